//! What is there changes: a node joins, a Queue goes, a budget keeps pods.

use quotient_crds::{QueueSpec, ResourceMap};

use super::{CLAIM, JOIN, WORK, Workload, created, teams};
use crate::objects::Kind;
use crate::scenario::build::{self, deleted};

/// A disruption budget keeps all pods of one Deployment; what has to go goes from the other.
pub fn guarded_by_a_budget() -> Workload {
    let mut objects = vec![(Kind::Node, build::node("node-1", "8", "32Gi"))];
    objects.extend(teams(2));
    objects.push((Kind::Queue, build::team("team-1", 1)));
    objects.push((Kind::PodDisruptionBudget, build::budget("team-1", "guarded", "100%")));
    let work = build::work("1", "1Gi");
    Workload {
        name: "guarded-by-a-budget",
        objects,
        later: vec![
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-1", "guarded", 4, &work))),
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-1", "open", 4, &work))),
            (JOIN, created(Kind::Queue, build::team("team-2", 1))),
            (CLAIM, created(Kind::ReplicaSet, build::replica_set("team-2", "web", 4, &work))),
        ],
        length: CLAIM,
        hard: vec![
            ("team-1", "requests.cpu 4, requests.memory 16Gi"),
            ("team-2", "requests.cpu 4, requests.memory 16Gi"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 4,
    }
}

/// One of two queues is deleted, and its pods with it: the other one takes all.
pub fn queue_deleted() -> Workload {
    let mut objects = vec![(Kind::Node, build::node("node-1", "8", "32Gi"))];
    objects.extend(teams(2));
    // With default requests, so that what happens to quotas happens to LimitRanges, too.
    let defaults = || ResourceMap::from([("cpu", "100m"), ("memory", "128Mi")]);
    for team in ["team-1", "team-2"] {
        let spec = QueueSpec {
            request: Some(build::everything()),
            default_requests: Some(defaults()),
            ..QueueSpec::default()
        };
        objects.push((Kind::Queue, build::queue(team, team, spec)));
    }
    let work = build::work("1", "1Gi");
    Workload {
        name: "queue-deleted",
        objects,
        later: vec![
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-1", "web", 8, &work))),
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-2", "web", 4, &work))),
            (JOIN, deleted(Kind::Queue, "team-2", "team-2")),
            (CLAIM, deleted(Kind::ReplicaSet, "team-2", "web")),
        ],
        length: CLAIM,
        hard: vec![
            ("team-1", "requests.cpu 8, requests.memory 32Gi"),
            // It went with its Queue.
            ("team-2", ""),
        ],
        running_cpu: vec![("team-1", "8"), ("team-2", "0")],
        evictions: 0,
    }
}

/// A node joins, and another one is cordoned: shares follow what there is, and no pod is evicted.
pub fn node_added() -> Workload {
    let mut objects = vec![(Kind::Node, build::node("node-1", "4", "16Gi"))];
    objects.extend(teams(2));
    objects.push((Kind::Queue, build::team("team-1", 1)));
    objects.push((Kind::Queue, build::team("team-2", 1)));
    let work = build::work("1", "1Gi");
    Workload {
        name: "node-added",
        objects,
        later: vec![
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-1", "web", 4, &work))),
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-2", "web", 4, &work))),
            (JOIN, created(Kind::Node, build::node("node-2", "4", "16Gi"))),
        ],
        length: CLAIM,
        hard: vec![
            ("team-1", "requests.cpu 4, requests.memory 16Gi"),
            ("team-2", "requests.cpu 4, requests.memory 16Gi"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 0,
    }
}
