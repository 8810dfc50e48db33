//! The seeds' examples and what is like them.

use super::Case;
use crate::objects::Kind;
use crate::scenario::build::{self, created, seconds};
use crate::scenario::{Workload, workload};

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new(workload::two_queues(), "two queues fill a cluster (S-QUEUE)"),
        Case::new(workload::newcomer(), "a third queue joins two that hold everything (S-PREEMPT)"),
        Case::new(stateful(), "the pods that go come back under the same names"),
        Case::new(ten_queues(), "ten queues of weights 1 to 10, the tenth comes late"),
    ]
}

/// A StatefulSet of eight gives half: what it creates again has the names of what was evicted.
fn stateful() -> Workload {
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("8", "32Gi", 2);
    objects.push((Kind::Queue, build::team("team-1", 1)));
    Workload {
        name: "stateful",
        objects,
        later: vec![
            (seconds(6), created(Kind::StatefulSet, build::stateful_set("team-1", "db", 8, &small))),
            (seconds(30), created(Kind::Queue, build::team("team-2", 1))),
            (seconds(31), created(Kind::Job, build::job("team-2", "train", 4, &small))),
        ],
        length: seconds(32),
        hard: vec![
            ("team-1", "requests.cpu 4, requests.memory 16Gi"),
            ("team-2", "requests.cpu 4, requests.memory 16Gi"),
        ],
        running_cpu: vec![("team-1", "4"), ("team-2", "4")],
        evictions: 4,
    }
}

/// 55 cpu: one each by weight; the tenth takes ten from all of the others.
fn ten_queues() -> Workload {
    const HARD: [&str; 10] = [
        "requests.cpu 1, requests.memory 1Gi",
        "requests.cpu 2, requests.memory 2Gi",
        "requests.cpu 3, requests.memory 3Gi",
        "requests.cpu 4, requests.memory 4Gi",
        "requests.cpu 5, requests.memory 5Gi",
        "requests.cpu 6, requests.memory 6Gi",
        "requests.cpu 7, requests.memory 7Gi",
        "requests.cpu 8, requests.memory 8Gi",
        "requests.cpu 9, requests.memory 9Gi",
        "requests.cpu 10, requests.memory 10Gi",
    ];
    const NAMES: [&str; 10] =
        ["team-1", "team-2", "team-3", "team-4", "team-5", "team-6", "team-7", "team-8", "team-9", "team-10"];
    const CPUS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    let small = build::work("1", "1Gi");
    let mut objects = build::node_and_teams("55", "55Gi", 10);
    let mut later = Vec::new();
    for (number, name) in (1_i32..).zip(NAMES) {
        let (queue, job) = if number < 10 { (0, 6) } else { (30, 30) };
        if number < 10 {
            objects.push((Kind::Queue, build::team(name, number)));
        } else {
            later.push((seconds(queue), created(Kind::Queue, build::team(name, number))));
        }
        later.push((seconds(job), created(Kind::Job, build::job(name, "train", 20, &small))));
    }
    Workload {
        name: "ten-queues",
        objects,
        later,
        length: seconds(31),
        hard: NAMES.into_iter().zip(HARD).collect(),
        running_cpu: NAMES.into_iter().zip(CPUS).collect(),
        evictions: 10,
    }
}
