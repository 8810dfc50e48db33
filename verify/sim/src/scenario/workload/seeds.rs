//! The seeds' examples.

use serde_json::json;

use super::Workload;
use crate::objects::Kind;
use crate::scenario::build::{self, joins, node_and_teams, queue_of, teams, train};

/// The second at which the first work comes, at which a queue joins, and at which work comes for which that was. So far apart
/// that an operator which dies in between is back in time: else it would be late, not wrong.
const WORK: u64 = 30;
const JOIN: u64 = 60;
const CLAIM: u64 = 100;

/// The example of S-QUEUE: weights 2 and 4 on 9 cpu and 27Gi, both ask for more than there is.
pub fn two_queues() -> Workload {
    let queue = |name: &str, weight: u32, cpu: &str, memory: &str| {
        queue_of(name, name, json!({"weight": weight, "request": {"cpu": cpu, "memory": memory}}))
    };
    let nodes = [("node-1", "6", "15Gi"), ("node-2", "3", "12Gi")];
    let nodes = nodes.map(|(name, cpu, memory)| (Kind::Node, build::node(name, cpu, memory)));
    Workload::new("two-queues", nodes.into())
        .with(teams(2))
        .with([queue("team-1", 2, "5", "10Gi"), queue("team-2", 4, "10", "20Gi")])
        .at(WORK, train("team-1", 5))
        .at(WORK, train("team-2", 10))
        .until(CLAIM)
        .shares([("team-1", "3", "9Gi"), ("team-2", "6", "18Gi")])
}

/// The example of S-PREEMPT: two queues hold all of 9 cpu and 27Gi, and a third one joins. Two pods of 1 cpu go.
///
/// Every pod has an owner of its own, of each kind: all are last replicas and equal in this.
pub fn newcomer() -> Workload {
    let (small, large) = (build::work("1", "1Gi"), build::work("2", "1Gi"));
    Workload::new("newcomer", node_and_teams("9", "27Gi", 3))
        .with([(Kind::Queue, build::team("team-1", 2)), (Kind::Queue, build::team("team-2", 4))])
        .create(WORK, Kind::Job, build::job("team-1", "large", 1, &large))
        .create(WORK, Kind::Job, build::job("team-1", "small", 1, &small))
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-2", "large-1", 1, &large))
        .create(WORK, Kind::StatefulSet, build::stateful_set("team-2", "large-2", 1, &large))
        .create(WORK, Kind::Job, build::job("team-2", "small", 1, &small))
        .at(JOIN, joins("team-3", 3))
        .at(CLAIM, train("team-3", 3))
        .until(CLAIM)
        .shares([("team-1", "2", "6Gi"), ("team-2", "4", "12Gi"), ("team-3", "3", "9Gi")])
        .evictions(2)
}
