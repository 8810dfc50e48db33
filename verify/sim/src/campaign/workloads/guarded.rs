//! Guarantees, trees, budgets and nodes.

use serde_json::json;

use super::Case;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, created, node_and_teams, queue_of, teams, train};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(tree(), "a guaranteed queue two levels down comes back"),
        Case::new(budgets(), "a budget protects the pods that would go first"),
        Case::new(gpus(), "a pod of four GPUs needs one node to be freed").fragmenting(),
    ]
}

/// `org` groups team-1 and team-2, of which the second is guaranteed 4 of 8 cpu and comes late; team-3 is outside.
fn tree() -> Workload {
    let parent = json!({"namespace": "org", "name": "org"});
    let member = json!({"weight": 1, "parentRef": parent, "request": build::everything()});
    let mut late = member.clone();
    late["guaranteed"] = json!({"cpu": "4", "memory": "8Gi"});
    let (kind, late) = queue_of("team-2", "team-2", late);
    Workload::new("tree", node_and_teams("8", "16Gi", 3))
        .with([(Kind::Namespace, build::namespace("org"))])
        .with([queue_of("org", "org", json!({"weight": 1, "children": {"namespaces": {"from": "All"}}}))])
        .with([queue_of("team-1", "team-1", member), (Kind::Queue, build::team("team-3", 1))])
        .at(6, train("team-1", 8))
        .at(6, train("team-3", 8))
        .at(30, created(kind, late))
        .at(31, train("team-2", 8))
        .until(32)
        // team-2's guarantee is a claim of `org`, too: 4 before all, then the other 4 by weight, at every level.
        .shares([("team-1", "1", "2Gi"), ("team-2", "5", "10Gi"), ("team-3", "2", "4Gi")])
        .evictions(5)
}

/// Four of team-1's eight pods may not go at once: a budget wants all of them. The others do.
fn budgets() -> Workload {
    let web = build::replica_set("team-1", "web", 4, &build::work("1", "1Gi"));
    Workload::new("budgets", node_and_teams("8", "16Gi", 2))
        .with([(Kind::Queue, build::team("team-1", 1))])
        .with([(Kind::PodDisruptionBudget, build::budget("team-1", "web", 4))])
        .at(6, train("team-1", 4))
        // Younger, so it would go first.
        .create(12, Kind::ReplicaSet, web)
        .halved("8Gi")
}

/// Two nodes of four GPUs, all taken by single ones of team-1; team-2 deserves four and wants them in one pod.
fn gpus() -> Workload {
    let gpu_node = |name: &str| {
        let mut node = build::node(name, "16", "64Gi");
        for field in ["capacity", "allocatable"] {
            node["status"][field]["nvidia.com/gpu"] = "4".into();
        }
        (Kind::Node, node)
    };
    let work = |gpus: &str| {
        let mut work = build::work("1", "1Gi");
        work["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = gpus.into();
        work
    };
    let spec = json!({"weight": 1, "request": {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "8"}});
    let half = "requests.cpu 16, requests.memory 64Gi, requests.nvidia.com/gpu 4";
    let (kind, late) = queue_of("team-2", "team-2", spec.clone());
    Workload::new("gpus", vec![gpu_node("node-1"), gpu_node("node-2")])
        .with(teams(2))
        .with([queue_of("team-1", "team-1", spec)])
        .create(6, Kind::Job, build::job("team-1", "single", 8, &work("1")))
        .at(30, created(kind, late))
        .create(31, Kind::Job, build::job("team-2", "large", 1, &work("4")))
        .until(32)
        .quotas([("team-1", half), ("team-2", half)])
        .running([("team-1", "4"), ("team-2", "1")])
        .evictions(4)
}
