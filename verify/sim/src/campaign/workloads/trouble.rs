//! Things that go wrong in every cluster.

use serde_json::json;

use super::Case;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, created, deleted, merged, seconds};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(finalizer(), "victims that hang in Terminating until a person helps"),
        Case::new(queue_deleted(), "the gainer's Queue is deleted in the middle").evicting(0..=4),
    ]
}

/// Two of team-1's pods do not go until their finalizers are taken away; no other pod goes for them.
fn finalizer() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("4", "4Gi", 2);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    let hanging = |name: &str| {
        let mut pod = build::pod("team-1", name, &small);
        pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
        created(Kind::Pod, pod)
    };
    let free = |name: &str| {
        let patch = json!({"metadata": {"finalizers": null}});
        merged(Kind::Pod, "team-1", name, patch)
    };
    Workload {
        name: "finalizer",
        objects,
        later: vec![
            (seconds(6), hanging("one")),
            (seconds(6), hanging("two")),
            (seconds(6), hanging("three")),
            (seconds(6), hanging("four")),
            (seconds(30), created(Kind::Queue, build::team("team-2", 1))),
            (seconds(31), created(Kind::Job, build::job("team-2", "train", 4, &small))),
            (seconds(90), free("one")),
            (seconds(90), free("two")),
            (seconds(95), free("three")),
            (seconds(95), free("four")),
        ],
        length: seconds(96),
        hard: vec![
            ("team-1", "requests.cpu 2, requests.memory 2Gi"),
            ("team-2", "requests.cpu 2, requests.memory 2Gi"),
        ],
        running_cpu: vec![("team-1", "2"), ("team-2", "2")],
        evictions: 2,
    }
}

/// team-2 comes for half, and its Queue is deleted as the first pods go; it stays with what it has got until then.
fn queue_deleted() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "8Gi", 2);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    Workload {
        name: "queue-deleted",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "train", 8, &small))),
            (seconds(30), created(Kind::Queue, build::team("team-2", 1))),
            (seconds(32), deleted(Kind::Queue, "team-2", "team-2")),
        ],
        length: seconds(33),
        // Nothing has run in team-2: all is team-1's again.
        hard: vec![("team-1", "requests.cpu 8, requests.memory 8Gi")],
        running_cpu: vec![("team-1", "8"), ("team-2", "0")],
        evictions: 4,
    }
}
