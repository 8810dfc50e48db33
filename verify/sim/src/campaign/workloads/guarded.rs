//! Guarantees, trees, budgets and nodes.

use serde_json::json;

use super::Case;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, created, queue_of, seconds, teams};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(tree(), "a guaranteed queue two levels down comes back"),
        Case::new(budgets(), "a budget protects the pods that would go first"),
        Case::new(gpus(), "a pod of four GPUs needs one node to be freed").fragmenting(),
    ]
}

/// `org` groups team-1 and team-2, of which the second is guaranteed 4 of 8 cpu and comes late; team-3 is outside.
fn tree() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "16Gi", 3);
    objects.push((Kind::Namespace, build::namespace("org")));
    let parent = json!({"namespace": "org", "name": "org"});
    objects.push(queue_of("org", "org", json!({"weight": 1, "children": {"namespaces": {"from": "All"}}})));
    objects.push(queue_of(
        "team-1",
        "team-1",
        json!({"weight": 1, "parentRef": parent, "request": build::everything()}),
    ));
    objects.push(queue_of("team-3", "team-3", json!({"weight": 1, "request": build::everything()})));
    Workload {
        name: "tree",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "train", 8, &small))),
            (seconds(6), created(Kind::Job, build::job("team-3", "train", 8, &small))),
            (
                seconds(30),
                created(
                    Kind::Queue,
                    queue_of("team-2", "team-2", json!({"weight": 1, "parentRef": parent, "request": build::everything(), "guaranteed": {"cpu": "4", "memory": "8Gi"}})).1,
                ),
            ),
            (seconds(31), created(Kind::Job, build::job("team-2", "train", 8, &small))),
        ],
        length: seconds(32),
        // team-2's guarantee is a claim of `org`, too: 4 before all, then the other 4 by weight, at every level.
        hard: vec![
            ("team-1", "requests.cpu 1, requests.memory 2Gi"),
            ("team-2", "requests.cpu 5, requests.memory 10Gi"),
            ("team-3", "requests.cpu 2, requests.memory 4Gi"),
        ],
        running_cpu: vec![("team-1", "1"), ("team-2", "5"), ("team-3", "2")],
        evictions: 5,
    }
}

/// Four of team-1's eight pods may not go at once: a budget wants all of them. The others do.
fn budgets() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "16Gi", 2);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    objects.push((Kind::PodDisruptionBudget, build::budget("team-1", "web", 4)));
    Workload {
        name: "budgets",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "train", 4, &small))),
            // Younger, so it would go first.
            (seconds(12), created(Kind::ReplicaSet, build::replica_set("team-1", "web", 4, &small))),
            (seconds(30), created(Kind::Queue, build::team("team-2", 1))),
            (seconds(31), created(Kind::Job, build::job("team-2", "train", 4, &small))),
        ],
        length: seconds(32),
        hard: vec![
            ("team-1", "requests.cpu 4, requests.memory 8Gi"),
            ("team-2", "requests.cpu 4, requests.memory 8Gi"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 4,
    }
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
    let mut objects = vec![gpu_node("node-1"), gpu_node("node-2")];
    objects.extend(teams(2));
    let spec = json!({"weight": 1, "request": {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "8"}});
    objects.push(queue_of("team-1", "team-1", spec.clone()));
    Workload {
        name: "gpus",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "single", 8, &work("1")))),
            (seconds(30), created(Kind::Queue, queue_of("team-2", "team-2", spec).1)),
            (seconds(31), created(Kind::Job, build::job("team-2", "large", 1, &work("4")))),
        ],
        length: seconds(32),
        hard: vec![
            ("team-1", "requests.cpu 16, requests.memory 64Gi, requests.nvidia.com/gpu 4"),
            ("team-2", "requests.cpu 16, requests.memory 64Gi, requests.nvidia.com/gpu 4"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "1")],
        evictions: 4,
    }
}
