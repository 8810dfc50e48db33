//! The seeds' examples and what is like them.

use super::Case;
use crate::objects::Kind;
use crate::scenario::build::{self, joins, node_and_teams, train};
use crate::scenario::{Workload, workload};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(workload::two_queues(), "two queues fill a cluster (S-QUEUE)"),
        Case::new(workload::newcomer(), "a third queue joins two that hold everything (S-PREEMPT)"),
        Case::new(stateful(), "the pods that go come back under the same names"),
        // Without the operator, pods fill the room that its quotas leave open.
        Case::new(ten_queues(), "ten queues of weights 1 to 10, the tenth comes late").evicting(6..=10),
    ]
}

/// A StatefulSet of eight gives half: what it creates again has the names of what was evicted.
fn stateful() -> Workload {
    let set = build::stateful_set("team-1", "db", 8, &build::work("1", "1Gi"));
    Workload::new("stateful", node_and_teams("8", "32Gi", 2))
        .with([(Kind::Queue, build::team("team-1", 1))])
        .create(6, Kind::StatefulSet, set)
        .halved("16Gi")
}

/// 55 cpu: one each by weight. Until the tenth queue comes the others have 55/45 cpu each by weight: fractions, because each
/// requests more than it has pods for. So 51 pods run, and the tenth queue takes four free cpu and six from the others.
fn ten_queues() -> Workload {
    const SHARES: [(&str, &str, &str); 10] = [
        ("team-1", "1", "1Gi"),
        ("team-2", "2", "2Gi"),
        ("team-3", "3", "3Gi"),
        ("team-4", "4", "4Gi"),
        ("team-5", "5", "5Gi"),
        ("team-6", "6", "6Gi"),
        ("team-7", "7", "7Gi"),
        ("team-8", "8", "8Gi"),
        ("team-9", "9", "9Gi"),
        ("team-10", "10", "10Gi"),
    ];
    let mut workload = Workload::new("ten-queues", node_and_teams("55", "55Gi", 10));
    for (weight, (name, ..)) in (1..).zip(SHARES) {
        workload = if weight < 10 {
            workload.with([(Kind::Queue, build::team(name, weight))]).at(6, train(name, 20))
        } else {
            workload.at(30, joins(name, weight)).at(30, train(name, 20))
        };
    }
    workload.until(31).shares(SHARES).evictions(6)
}
