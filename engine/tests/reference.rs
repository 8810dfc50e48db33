//! A reading of deserved shares, targets and owed room that can be checked by eye, beside which the engine is put.
//!
//! One level of queues, whose pods are alike: some run on the one node, the others are lacking. Amounts are so small that
//! every quantum is handed out by itself.

#![allow(clippy::cast_sign_loss, clippy::indexing_slicing, clippy::unwrap_used, reason = "a test")]

use std::cmp::Ordering;
use std::fmt::Write;

use proptest::prelude::*;
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_engine::planner::plan;

use crate::oracle::{PendingPods, singly};
use crate::{effort, story};

/// Of cpu in thousandths, and of devices.
type Two = [i128; 2];

#[derive(Clone, Debug)]
struct Queue {
    weight: i128,
    /// What one of its pods requests, how many run, and how many are lacking.
    pod: Two,
    runs: i128,
    lacks: i128,
    guaranteed: Two,
    request: Two,
    limit: [Option<i128>; 2],
}

#[derive(Clone, Debug)]
struct Cluster {
    capacity: Two,
    queues: Vec<Queue>,
}

/// What the definitions say of one queue.
#[derive(Clone, Debug)]
struct Reading {
    deserved: Two,
    target: Two,
}

fn both(of: impl Fn(usize) -> i128) -> Two {
    [of(0), of(1)]
}

/// How many of `pod` fit into `room`, at most `most`.
fn fitting(pod: Two, room: Two, most: i128) -> i128 {
    (0..2).filter(|one| pod[*one] > 0).map(|one| room[one].max(0) / pod[one]).fold(most, i128::min)
}

impl Queue {
    fn pods(&self) -> i128 {
        self.runs + self.lacks
    }

    fn limit(&self, one: usize) -> i128 {
        self.limit[one].unwrap_or(i128::MAX)
    }

    /// What its pods show, or its request if that is more, at most its limit.
    fn demand(&self, capacity: Two) -> Two {
        let claim = |one: usize| self.request[one].min(capacity[one]);
        both(|one| (self.pod[one] * self.pods()).max(claim(one)).min(self.limit(one)))
    }
}

/// Deserved: each resource by itself, weighted max-min with guarantees as floors.
fn deserved(cluster: &Cluster) -> Vec<Two> {
    let divide = |one: usize| {
        let pending = |queue: &Queue| {
            let all = queue.demand(cluster.capacity)[one];
            PendingPods { held: 0, floor: queue.guaranteed[one].min(all), all, weight: queue.weight }
        };
        let pending_pods: Vec<PendingPods> = cluster.queues.iter().map(pending).collect();
        singly::hand_out(cluster.capacity[one], &pending_pods, 1)
    };
    let (cpu, devices) = (divide(0), divide(1));
    cpu.into_iter().zip(devices).map(|(cpu, devices)| [cpu, devices]).collect()
}

/// A target in the making: what is left are pods that run, and pods that do not.
struct Making {
    fitted: Two,
    claimed: Two,
    floor: Two,
    demand: Two,
    left: [i128; 2],
}

impl Making {
    fn target(&self, more: Two) -> Two {
        both(|one| {
            let fitted = self.fitted[one] + more[one];
            (fitted + self.claimed[one]).min(self.demand[one].max(fitted)).max(self.floor[one])
        })
    }

    /// The pods within what is deserved; the part of a request that no pod shows which lacks room for it; guarantees.
    fn begin(queue: &Queue, deserved: Two, demand: Two) -> Self {
        let count = fitting(queue.pod, deserved, queue.pods());
        let fitted = both(|one| queue.pod[one] * count);
        let runs = (queue.runs - count).max(0);
        let room = both(|one| deserved[one] - fitted[one]);
        let below_limit = both(|one| queue.limit(one) - fitted[one]);
        let others = fitting(queue.pod, below_limit, queue.pods() - count);
        let shown =
            |one: usize| fitted[one] + if queue.pod[one] > room[one] { queue.pod[one] * others } else { 0 };
        let claimed = both(|one| (queue.request[one].min(demand[one]) - shown(one)).max(0).min(room[one]));
        let floor = both(|one| queue.guaranteed[one].min(deserved[one]));
        Self { fitted, claimed, floor, demand, left: [runs, queue.pods() - count - runs] }
    }
}

/// Targets: deserved shares made whole. What is left of the capacity goes pod by pod to the lowest target per weight whose next
/// pod fits, to pods that run before all others.
fn targets(cluster: &Cluster, deserved: &[Two]) -> Vec<Two> {
    let mut targets = deserved.to_vec();
    let mut making: Vec<Option<Making>> = Vec::new();
    for (at, queue) in cluster.queues.iter().enumerate() {
        let is_short = (0..2).any(|one| queue.pod[one] * queue.pods() > deserved[at][one]);
        making.push(is_short.then(|| Making::begin(queue, deserved[at], queue.demand(cluster.capacity))));
        if let Some(making) = &making[at] {
            targets[at] = making.target([0, 0]);
        }
    }
    for kind in [0, 1] {
        let mut waiting: Vec<usize> = (0..targets.len()).collect();
        loop {
            waiting.retain(|at| {
                making[*at].as_ref().is_some_and(|making| making.left[..=kind].iter().any(|left| *left > 0))
            });
            let Some(at) = waiting.iter().copied().min_by(|a, b| lower(cluster, &targets, *a, *b)) else {
                break;
            };
            let (queue, making) = (&cluster.queues[at], making[at].as_mut().unwrap());
            let after = making.target(queue.pod);
            let fits = (0..2).all(|one| {
                let all: i128 = targets.iter().map(|target| target[one]).sum();
                let more = after[one] - targets[at][one];
                more == 0 || (all + more <= cluster.capacity[one] && after[one] <= queue.limit(one))
            });
            let next = making.left.iter_mut().find(|left| **left > 0).unwrap();
            if fits {
                *next -= 1;
                making.fitted = both(|one| making.fitted[one] + queue.pod[one]);
                targets[at] = after;
            } else {
                *next = 0;
            }
        }
    }
    targets
}

/// Which of two queues has less of its largest resource, by weight; queues without weight come last.
fn lower(cluster: &Cluster, targets: &[Two], a: usize, b: usize) -> Ordering {
    let level = |at: usize| {
        let weight = cluster.queues[at].weight;
        let part = |one: usize| (targets[at][one], cluster.capacity[one] * weight.max(1));
        let parts = (0..2).filter(|one| cluster.capacity[*one] > 0).map(part);
        let most = parts.max_by(|(a, of_a), (b, of_b)| (a * of_b).cmp(&(b * of_a))).unwrap();
        (weight == 0, most)
    };
    let ((a_last, (x, of_x)), (b_last, (y, of_y))) = (level(a), level(b));
    a_last.cmp(&b_last).then((x * of_y).cmp(&(y * of_x))).then(a.cmp(&b))
}

fn read(cluster: &Cluster) -> Vec<Reading> {
    let deserved = deserved(cluster);
    let targets = targets(cluster, &deserved);
    deserved.into_iter().zip(targets).map(|(deserved, target)| Reading { deserved, target }).collect()
}

fn decided(cluster: &Cluster) -> (String, Plan) {
    let [cpu, devices] = cluster.capacity;
    let mut scenario = format!("node n cpu={cpu}m gpu={devices}\n");
    for (at, queue) in cluster.queues.iter().enumerate() {
        let amounts = |of: Two| format!("cpu:{}m,gpu:{}", of[0], of[1]);
        write!(scenario, "queue q{at} weight={} guaranteed={}", queue.weight, amounts(queue.guaranteed))
            .unwrap();
        if queue.request != [0, 0] {
            write!(scenario, " request={}", amounts(queue.request)).unwrap();
        }
        let limits = [("cpu", "m"), ("gpu", "")].into_iter().zip(queue.limit);
        let limits = limits.filter_map(|((name, unit), limit)| Some(format!("{name}:{}{unit}", limit?)));
        let limits: Vec<String> = limits.collect();
        if !limits.is_empty() {
            write!(scenario, " limit={}", limits.join(",")).unwrap();
        }
        let pod = format!("cpu={}m gpu={}", queue.pod[0], queue.pod[1]);
        writeln!(scenario, "\nowner q{at}/w replicas={} {pod}", queue.pods()).unwrap();
        for number in 0..queue.runs {
            writeln!(scenario, "pod q{at}/p{number} {pod} node=n started=1 owner=w").unwrap();
        }
    }
    let plan = plan(&story::parse(&scenario));
    (scenario, plan)
}

fn amounts(of: &Amounts) -> Two {
    [of.get(&Resource::Cpu).units(), of.get(&Resource::from_name("nvidia.com/gpu")).units()]
}

fn of_queue(plan: &Plan, at: usize) -> &QueuePlan {
    plan.queues.iter().find(|(name, _)| name.namespace.as_str() == format!("q{at}")).unwrap().1
}

fn queue(pod: impl Strategy<Value = Two>, claims: bool) -> impl Strategy<Value = Queue> {
    let most = if claims { 30i128 } else { 0 };
    let limit = || prop_oneof![4 => Just(None), 1 => (1i128..25).prop_map(Some)];
    let amounts = (0..=most / 3, 0..=most / 15, 0..=most, 0..=most / 5);
    (0i128..5, pod, 0i128..9, 0i128..9, amounts, limit(), limit()).prop_map(
        move |(weight, pod, runs, lacks, (cpu, devices, more_cpu, more_devices), limit, of_devices)| {
            let limit = if claims { [limit, of_devices] } else { [None, None] };
            let below = |of: Two| both(|one| limit[one].map_or(of[one], |limit| of[one].min(limit)));
            let (guaranteed, request) = (below([cpu, devices]), below([more_cpu, more_devices]));
            Queue { weight, pod, runs, lacks, guaranteed, request, limit }
        },
    )
}

/// Only as many pods run as there is room for.
fn fill(mut cluster: Cluster) -> Cluster {
    let mut room = cluster.capacity;
    for queue in &mut cluster.queues {
        queue.runs = fitting(queue.pod, room, queue.runs);
        room = both(|one| room[one] - queue.pod[one] * queue.runs);
    }
    cluster
}

fn cluster() -> impl Strategy<Value = Cluster> {
    let queues = proptest::collection::vec(queue((1i128..8, 0i128..3).prop_map(|(a, b)| [a, b]), true), 1..5);
    (10i128..40, 3i128..12, queues)
        .prop_map(|(cpu, devices, queues)| fill(Cluster { capacity: [cpu, devices], queues }))
}

/// The same where all pods of all queues are alike, and every queue asks only for its pods.
fn alike() -> impl Strategy<Value = Cluster> {
    let queues = |pod: i128| proptest::collection::vec(queue(Just([pod, 0]), false), 1..5);
    (10i128..40, 1i128..8).prop_flat_map(move |(cpu, pod)| {
        queues(pod).prop_map(move |queues| fill(Cluster { capacity: [cpu, 0], queues }))
    })
}

proptest! {
    #![proptest_config(effort::cases(4_000))]

    #[test]
    fn shares_and_targets_are_what_their_definition_says(cluster in cluster()) {
        let (scenario, plan) = decided(&cluster);
        for (at, reading) in read(&cluster).iter().enumerate() {
            let queue = of_queue(&plan, at);
            prop_assert_eq!(amounts(&queue.deserved), reading.deserved, "q{} deserves, of\n{}", at, scenario);
            prop_assert_eq!(amounts(&queue.target), reading.target, "target of q{}, of\n{}", at, scenario);
        }
    }

    /// What a queue lacks of its target, granted or held, is owed to it; and no more pods go than that takes.
    #[test]
    fn what_is_owed_is_what_targets_lack(cluster in alike()) {
        let (scenario, plan) = decided(&cluster);
        let (mut owed, mut free) = (0, cluster.capacity[0]);
        for (at, reading) in read(&cluster).iter().enumerate() {
            let queue = of_queue(&plan, at);
            let granted = amounts(&queue.allocated)[0].min(reading.target[0]);
            let occupied = amounts(&queue.used)[0].max(granted);
            let lacks = (reading.target[0] - occupied).max(0);
            prop_assert_eq!(amounts(&queue.preempting)[0], lacks, "q{} is owed, of\n{}", at, scenario);
            owed += lacks;
            free -= occupied;
        }
        let pod = cluster.queues[0].pod[0];
        let victims = plan.evictions.len() + plan.waiting.len();
        let needed = (owed - free.max(0)).max(0);
        prop_assert_eq!(i128::try_from(victims).unwrap(), (needed + pod - 1) / pod, "victims of\n{}", scenario);
    }
}
