//! Demand, weights and nodes that change.

use serde_json::{Value, json};

use super::Case;
use crate::clock::SimClock;
use crate::objects::Kind;
use crate::scenario::Workload;
use crate::scenario::build::{self, merged, node_and_teams, queue_of, seconds, teams, train};

pub(super) fn all() -> Vec<Case> {
    let about = "a queue is observed, then Full while the giver is paused, and the pause is ended";
    vec![
        Case::new(lent(), "idle capacity is lent, and reclaimed (Observed)"),
        Case::new(weights(), "weights are edited twice").evicting(2..=8),
        Case::new(modes(), about),
        Case::new(nodes(), "a node is cordoned, another one comes, and the first is back"),
    ]
}

/// team-1 fills the cluster while team-2 asks for nothing; then team-2's Job comes.
fn lent() -> Workload {
    Workload::new("lent", node_and_teams("8", "8Gi", 2))
        .with(["team-1", "team-2"].map(|team| queue_of(team, team, json!({"weight": 1}))))
        .at(6, train("team-1", 8))
        .at(40, train("team-2", 8))
        .until(80)
        .shares([("team-1", "4", "4Gi"), ("team-2", "4", "4Gi")])
        .evictions(4)
}

/// 1:1, then 3:1, then 1:3.
fn weights() -> Workload {
    let weigh =
        |name: &str, weight: i32| merged(Kind::Queue, name, name, json!({"spec": {"weight": weight}}));
    Workload::new("weights", node_and_teams("8", "8Gi", 2))
        .with(["team-1", "team-2"].map(|team| (Kind::Queue, build::team(team, 1))))
        .at(6, train("team-1", 8))
        .at(6, train("team-2", 8))
        .at(25, weigh("team-1", 3))
        .at(29, weigh("team-1", 1))
        .at(29, weigh("team-2", 3))
        .until(30)
        .shares([("team-1", "2", "2Gi"), ("team-2", "6", "6Gi")])
        .evictions(4)
}

/// team-1 holds everything. team-2 joins in mode Observe, then becomes Full, and a person ends the pause of team-1, which would
/// last for longer than any clock is wrong.
fn modes() -> Workload {
    let mut joining = build::team("team-2", 1);
    joining["spec"]["mode"] = "Observe".into();
    let until = SimClock::date(seconds(24 * 3600)).to_string();
    let spec = |name: &str, spec: Value| merged(Kind::Queue, name, name, json!({"spec": spec}));
    Workload::new("modes", node_and_teams("8", "8Gi", 2))
        .with([(Kind::Queue, build::team("team-1", 1))])
        .at(6, train("team-1", 8))
        .create(20, Kind::Queue, joining)
        .at(21, train("team-2", 4))
        .at(30, spec("team-1", json!({"pausedUntil": until})))
        .at(34, spec("team-2", json!({"mode": "Full"})))
        .at(50, spec("team-1", json!({"pausedUntil": null})))
        .until(51)
        .shares([("team-1", "4", "4Gi"), ("team-2", "4", "4Gi")])
        .evictions(4)
}

/// node-2 is cordoned, node-3 comes, and node-2 is back.
fn nodes() -> Workload {
    let node = |name: &str| (Kind::Node, build::node(name, "4", "4Gi"));
    let cordon = |on: bool| merged(Kind::Node, "", "node-2", json!({"spec": {"unschedulable": on}}));
    Workload::new("nodes", vec![node("node-1"), node("node-2")])
        .with(teams(2))
        .with(["team-1", "team-2"].map(|team| (Kind::Queue, build::team(team, 1))))
        // An operator that dies before is back: pods that are there before any quota keep another queue's quota low.
        .at(30, train("team-1", 8))
        .at(30, train("team-2", 8))
        // Its capacity leaves with its pods, and they stay.
        .at(54, cordon(true))
        .create(64, Kind::Node, build::node("node-3", "4", "4Gi"))
        .at(84, cordon(false))
        .until(85)
        .shares([("team-1", "6", "6Gi"), ("team-2", "6", "6Gi")])
}
