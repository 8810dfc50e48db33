//! What is there changes: demand, a node, a Queue; and a budget keeps pods.

use serde_json::json;

use super::{CLAIM, JOIN, WORK, Workload};
use crate::objects::Kind;
use crate::scenario::build::{self, deleted, joins, node_and_teams, queue_of};

/// A disruption budget keeps all pods of one Deployment; what has to go goes from the other.
pub fn guarded_by_a_budget() -> Workload {
    let work = build::work("1", "1Gi");
    Workload::new("guarded-by-a-budget", node_and_teams("8", "32Gi", 2))
        .with([(Kind::Queue, build::team("team-1", 1))])
        .with([(Kind::PodDisruptionBudget, build::budget("team-1", "guarded", "100%"))])
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-1", "guarded", 4, &work))
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-1", "open", 4, &work))
        .at(JOIN, joins("team-2", 1))
        .create(CLAIM, Kind::ReplicaSet, build::replica_set("team-2", "web", 4, &work))
        .until(CLAIM)
        .shares([("team-1", "4", "16Gi"), ("team-2", "4", "16Gi")])
        .evictions(4)
}

/// One of two queues is deleted, and its pods with it: the other one takes all.
pub fn queue_deleted() -> Workload {
    let work = build::work("1", "1Gi");
    // With default requests, so that what happens to quotas happens to LimitRanges, too.
    let spec = json!({"request": build::everything(), "defaultRequests": {"cpu": "100m", "memory": "128Mi"}});
    Workload::new("queue-deleted", node_and_teams("8", "32Gi", 2))
        .with(["team-1", "team-2"].map(|team| queue_of(team, team, spec.clone())))
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-1", "web", 8, &work))
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-2", "web", 4, &work))
        .at(JOIN, deleted(Kind::Queue, "team-2", "team-2"))
        .at(CLAIM, deleted(Kind::ReplicaSet, "team-2", "web"))
        .until(CLAIM)
        // The other one went with its Queue.
        .quotas([("team-1", "requests.cpu 8, requests.memory 32Gi"), ("team-2", "")])
        .running([("team-1", "8"), ("team-2", "0")])
}

/// A node joins, and another one is cordoned: shares follow what there is, and no pod is evicted.
pub fn node_added() -> Workload {
    let work = build::work("1", "1Gi");
    Workload::new("node-added", node_and_teams("4", "16Gi", 2))
        .with(["team-1", "team-2"].map(|team| (Kind::Queue, build::team(team, 1))))
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-1", "web", 4, &work))
        .create(WORK, Kind::ReplicaSet, build::replica_set("team-2", "web", 4, &work))
        .create(JOIN, Kind::Node, build::node("node-2", "4", "16Gi"))
        .until(CLAIM)
        .shares([("team-1", "4", "16Gi"), ("team-2", "4", "16Gi")])
}
