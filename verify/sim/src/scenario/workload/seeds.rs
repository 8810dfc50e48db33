//! The seeds' examples.

use quotient_crds::QueueSpec;

use super::{CLAIM, JOIN, WORK, Workload, created, teams};
use crate::objects::Kind;
use crate::scenario::build;

/// The example of S-QUEUE: weights 2 and 4 on 9 cpu and 27Gi, both ask for more than there is.
pub fn two_queues() -> Workload {
    let queue = |name: &str, weight, cpu: &str, memory: &str| {
        let request = [("cpu", cpu), ("memory", memory)].into();
        build::queue(name, name, QueueSpec { weight, request: Some(request), ..QueueSpec::default() })
    };
    let mut objects = vec![
        (Kind::Node, build::node("node-1", "6", "15Gi")),
        (Kind::Node, build::node("node-2", "3", "12Gi")),
    ];
    objects.extend(teams(2));
    objects.push((Kind::Queue, queue("team-1", 2, "5", "10Gi")));
    objects.push((Kind::Queue, queue("team-2", 4, "10", "20Gi")));
    let work = build::work("1", "1Gi");
    Workload {
        name: "two-queues",
        objects,
        later: vec![
            (WORK, created(Kind::Job, build::job("team-1", "train", 5, &work))),
            (WORK, created(Kind::Job, build::job("team-2", "train", 10, &work))),
        ],
        length: CLAIM,
        hard: vec![
            ("team-1", "requests.cpu 3, requests.memory 9Gi"),
            ("team-2", "requests.cpu 6, requests.memory 18Gi"),
        ],
        running_cpu: vec![("team-1", "3"), ("team-2", "6")],
        evictions: 0,
    }
}

/// The example of S-PREEMPT: two queues hold all of 9 cpu and 27Gi, and a third one joins. Two pods of 1 cpu go.
///
/// Every pod has an owner of its own, of each kind: all are last replicas and equal in this.
pub fn newcomer() -> Workload {
    let mut objects = vec![(Kind::Node, build::node("node-1", "9", "27Gi"))];
    objects.extend(teams(3));
    objects.push((Kind::Queue, build::team("team-1", 2)));
    objects.push((Kind::Queue, build::team("team-2", 4)));
    let (small, large) = (build::work("1", "1Gi"), build::work("2", "1Gi"));
    Workload {
        name: "newcomer",
        objects,
        later: vec![
            (WORK, created(Kind::Job, build::job("team-1", "large", 1, &large))),
            (WORK, created(Kind::Job, build::job("team-1", "small", 1, &small))),
            (WORK, created(Kind::ReplicaSet, build::replica_set("team-2", "large-1", 1, &large))),
            (WORK, created(Kind::StatefulSet, build::stateful_set("team-2", "large-2", 1, &large))),
            (WORK, created(Kind::Job, build::job("team-2", "small", 1, &small))),
            (JOIN, created(Kind::Queue, build::team("team-3", 3))),
            (CLAIM, created(Kind::Job, build::job("team-3", "train", 3, &small))),
        ],
        length: CLAIM,
        hard: vec![
            ("team-1", "requests.cpu 2, requests.memory 6Gi"),
            ("team-2", "requests.cpu 4, requests.memory 12Gi"),
            ("team-3", "requests.cpu 3, requests.memory 9Gi"),
        ],
        running_cpu: vec![("team-1", "2"), ("team-2", "4"), ("team-3", "3")],
        evictions: 2,
    }
}
