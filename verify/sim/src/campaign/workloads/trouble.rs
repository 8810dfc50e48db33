//! Things that go wrong in every cluster.

use serde_json::json;

use super::Case;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, deleted, joins, merged, node_and_teams, train};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(finalizer(), "victims that hang in Terminating until a person helps"),
        Case::new(queue_deleted(), "the gainer's Queue is deleted in the middle").evicting(0..=4),
    ]
}

/// Two of team-1's pods do not go until their finalizers are taken away; no other pod goes for them.
fn finalizer() -> Workload {
    let hanging = |name: &str| {
        let mut pod = build::pod("team-1", name, &build::work("1", "1Gi"));
        pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
        pod
    };
    let free = |name: &str| merged(Kind::Pod, "team-1", name, json!({"metadata": {"finalizers": null}}));
    let workload = Workload::new("finalizer", node_and_teams("4", "4Gi", 2));
    let workload = workload.with([(Kind::Queue, build::team("team-1", 1))]);
    let pods = ["one", "two", "three", "four"].into_iter().map(hanging);
    pods.fold(workload, |workload, pod| workload.create(6, Kind::Pod, pod))
        .at(30, joins("team-2", 1))
        .at(31, train("team-2", 4))
        .at(90, free("one"))
        .at(90, free("two"))
        .at(95, free("three"))
        .at(95, free("four"))
        .until(96)
        .shares([("team-1", "2", "2Gi"), ("team-2", "2", "2Gi")])
        .evictions(2)
}

/// team-2 comes for half, and its Queue is deleted as the first pods go; it stays with what it has got until then.
fn queue_deleted() -> Workload {
    Workload::new("queue-deleted", node_and_teams("8", "8Gi", 2))
        .with([(Kind::Queue, build::team("team-1", 1))])
        .at(6, train("team-1", 8))
        .at(30, joins("team-2", 1))
        .at(32, deleted(Kind::Queue, "team-2", "team-2"))
        .until(33)
        // Nothing has run in team-2: all is team-1's again.
        .quotas([("team-1", "requests.cpu 8, requests.memory 8Gi")])
        .running([("team-1", "8"), ("team-2", "0")])
        .evictions(4)
}
