//! Demand, weights and nodes that change.

use serde_json::{Value, json};

use super::Case;
use crate::clock::SimClock;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, created, merged, queue_of, seconds, teams};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(lent(), "idle capacity is lent, and taken back (Observed)"),
        Case::new(weights(), "weights are edited twice").evicting(2..=8),
        Case::new(
            modes(),
            "a queue is observed, then Full while the giver is paused, and the pause is ended",
        ),
        Case::new(nodes(), "a node is cordoned, another one comes, and the first is back"),
    ]
}

/// team-1 fills the cluster while team-2 asks for nothing; then team-2's Job comes.
fn lent() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "8Gi", 2);
    objects.push(queue_of("team-1", "team-1", json!({"weight": 1})));
    objects.push(queue_of("team-2", "team-2", json!({"weight": 1})));
    Workload {
        name: "lent",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "train", 8, &small))),
            (seconds(40), created(Kind::Job, build::job("team-2", "train", 8, &small))),
        ],
        length: seconds(80),
        hard: vec![
            ("team-1", "requests.cpu 4, requests.memory 4Gi"),
            ("team-2", "requests.cpu 4, requests.memory 4Gi"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 4,
    }
}

/// 1:1, then 3:1, then 1:3.
fn weights() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "8Gi", 2);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    objects.push((Kind::Queue, build::team("team-2", 1)));
    let weigh =
        |name: &str, weight: i32| merged(Kind::Queue, name, name, json!({"spec": {"weight": weight}}));
    Workload {
        name: "weights",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "train", 8, &small))),
            (seconds(6), created(Kind::Job, build::job("team-2", "train", 8, &small))),
            (seconds(25), weigh("team-1", 3)),
            (seconds(29), weigh("team-1", 1)),
            (seconds(29), weigh("team-2", 3)),
        ],
        length: seconds(30),
        hard: vec![
            ("team-1", "requests.cpu 2, requests.memory 2Gi"),
            ("team-2", "requests.cpu 6, requests.memory 6Gi"),
        ],
        running_cpu: vec![("team-1", "2"), ("team-2", "6")],
        evictions: 4,
    }
}

/// team-1 holds everything. team-2 joins in mode Observe, then becomes Full, and a person ends the pause of team-1, which would
/// last for longer than any clock is wrong.
fn modes() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "8Gi", 2);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    let mut joining = build::team("team-2", 1);
    joining["spec"]["mode"] = "Observe".into();
    let until = SimClock::date(seconds(24 * 3600)).to_string();
    let spec = |name: &str, spec: Value| merged(Kind::Queue, name, name, json!({"spec": spec}));
    Workload {
        name: "modes",
        objects,
        later: vec![
            (seconds(6), created(Kind::Job, build::job("team-1", "train", 8, &small))),
            (seconds(20), created(Kind::Queue, joining)),
            (seconds(21), created(Kind::Job, build::job("team-2", "train", 4, &small))),
            (seconds(30), spec("team-1", json!({"pausedUntil": until}))),
            (seconds(34), spec("team-2", json!({"mode": "Full"}))),
            (seconds(50), spec("team-1", json!({"pausedUntil": null}))),
        ],
        length: seconds(51),
        hard: vec![
            ("team-1", "requests.cpu 4, requests.memory 4Gi"),
            ("team-2", "requests.cpu 4, requests.memory 4Gi"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 4,
    }
}

/// node-2 is cordoned, node-3 comes, and node-2 is back.
fn nodes() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = vec![
        (Kind::Node, build::node("node-1", "4", "4Gi")),
        (Kind::Node, build::node("node-2", "4", "4Gi")),
    ];
    objects.extend(teams(2));
    objects.push((Kind::Queue, build::team("team-1", 1)));
    objects.push((Kind::Queue, build::team("team-2", 1)));
    let cordon = |on: bool| merged(Kind::Node, "", "node-2", json!({"spec": {"unschedulable": on}}));
    Workload {
        name: "nodes",
        objects,
        later: vec![
            // An operator that dies before is back: pods that are there before any quota keep another queue's quota low.
            (seconds(30), created(Kind::Job, build::job("team-1", "train", 8, &small))),
            (seconds(30), created(Kind::Job, build::job("team-2", "train", 8, &small))),
            // Its capacity leaves with its pods, and they stay.
            (seconds(54), cordon(true)),
            (seconds(64), created(Kind::Node, build::node("node-3", "4", "4Gi"))),
            (seconds(84), cordon(false)),
        ],
        length: seconds(85),
        hard: vec![
            ("team-1", "requests.cpu 6, requests.memory 6Gi"),
            ("team-2", "requests.cpu 6, requests.memory 6Gi"),
        ],
        running_cpu: vec![("team-1", "6"), ("team-2", "6")],
        evictions: 0,
    }
}
