//! Two ends of a cluster compared: without a change and with it.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::amounts::Amounts;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan, PodId, QueuePlan};
use quotient_engine::reasons::{KeptReason, ShortReason};
use quotient_engine::snapshot::Pod;

use crate::commands::simulate::{Simulation, all_unmet, stalled_only_in, why_not_started};
use crate::manifests::Cluster;
use crate::output::spaced;

/// What differs in the end.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The leaf queues of either end, by name.
    pub(crate) queues: Vec<QueueDiff>,
    /// The pods that only the change evicts, in order, each with the time that it may take to end.
    pub(crate) evicted: Vec<Eviction>,
    /// How many pods are evicted with and without the change.
    pub(super) evicted_anyway: usize,
    /// How many pods a budget keeps with the change.
    pub(super) blocked: usize,
    /// The queues with a guarantee that only the change makes unmeetable, and what is lacking for it.
    pub(super) unmeetable: BTreeMap<String, Amounts>,
    /// The Queues that only with the change have no share, each with the reason.
    pub(super) stalled: Vec<String>,
    /// The queue whose share falls most, in hundredths of a percent.
    pub(super) deepest_drop: Option<(String, u64)>,
    /// Pods that only with the change cannot start in the end, a sentence each.
    pub(crate) unmet: Vec<String>,
    /// Until nothing happens any more, with the change; none if that was not reached.
    pub(super) steps: Option<usize>,
}

/// One leaf queue.
#[derive(Debug)]
pub(crate) struct QueueDiff {
    pub(super) name: QueueName,
    /// None if only one end has the queue.
    pub(super) deserved: (Option<Amounts>, Option<Amounts>),
    pub(crate) used: (Option<Amounts>, Option<Amounts>),
    /// How many more pods start with the change than without.
    pub(super) started: usize,
    /// What evictions leave it: its guarantee, and the minimum of its gangs.
    pub(super) kept: Vec<String>,
}

impl Comparison {
    /// The end of `before` and that of `after`, which is played from `changed`.
    pub(super) fn of(before: &Simulation, after: &Simulation, changed: &Cluster) -> Self {
        let end = |simulation: &Simulation| simulation.steps.last().map(|step| step.plan.clone());
        let (old, new) = (end(before).unwrap_or_default(), end(after).unwrap_or_default());
        let anyway: BTreeSet<&PodId> = evictions(before).map(|eviction| &eviction.pod).collect();
        let evicted = evictions(after).filter(|eviction| !anyway.contains(&eviction.pod));
        let evicted: Vec<Eviction> =
            evicted.map(|one| Eviction { grace_seconds: changed.grace_of(one), ..one.clone() }).collect();
        let queues = queues([&old, &new], [before, after], &evicted, changed);
        Self {
            evicted_anyway: evictions(after).count().saturating_sub(evicted.len()),
            evicted,
            blocked: blocked(after),
            unmeetable: unmeetable(&old, &new),
            stalled: stalled_only_in(&old, &new),
            deepest_drop: deepest_drop(&queues),
            unmet: unmet_only_in(&old, &new),
            steps: after.stable.then_some(after.steps.len()),
            queues,
        }
    }

    /// The longest time that an evicted pod may take to end.
    pub(super) fn longest_grace(&self) -> Option<u32> {
        self.evicted.iter().filter_map(|evicted| evicted.grace_seconds).max()
    }
}

fn evictions(simulation: &Simulation) -> impl Iterator<Item = &Eviction> {
    simulation.steps.iter().flat_map(|step| &step.plan.evictions)
}

/// `Job trainer`; none for a bare pod.
pub(super) fn workload_of(eviction: &Eviction) -> Option<String> {
    eviction.workload.as_ref().map(|workload| format!("{} {}", workload.kind, workload.name))
}

fn leaves(plan: &Plan) -> BTreeMap<&QueueName, &QueuePlan> {
    plan.queues.iter().filter(|(_, queue)| !queue.is_parent).collect()
}

fn queues(
    [old, new]: [&Plan; 2],
    [before, after]: [&Simulation; 2],
    evicted: &[Eviction],
    changed: &Cluster,
) -> Vec<QueueDiff> {
    let (old, new) = (leaves(old), leaves(new));
    let names: BTreeSet<&QueueName> = old.keys().chain(new.keys()).copied().collect();
    let started = |simulation: &Simulation, name: &QueueName| {
        let pods = simulation.before.iter().chain(simulation.steps.iter().flat_map(|step| &step.started));
        pods.filter(|pod| pod.namespace == name.namespace).count()
    };
    names
        .into_iter()
        .map(|name| {
            let of = |part: fn(&QueuePlan) -> &Amounts| {
                let amounts =
                    |plan: &BTreeMap<&QueueName, &QueuePlan>| plan.get(name).map(|queue| part(queue).clone());
                (amounts(&old), amounts(&new))
            };
            QueueDiff {
                name: name.clone(),
                deserved: of(|queue| &queue.deserved),
                used: of(|queue| &queue.used),
                started: started(after, name).saturating_sub(started(before, name)),
                kept: kept(name, evicted, changed),
            }
        })
        .collect()
}

/// `guarantee 16 gpu`, `gang minimum 32`.
fn kept(queue: &QueueName, evicted: &[Eviction], cluster: &Cluster) -> Vec<String> {
    let mut evicted = evicted.iter().filter(|evicted| evicted.queue == *queue).peekable();
    let state = cluster.snapshot.namespaces.get(&queue.namespace).filter(|_| evicted.peek().is_some());
    let Some(state) = state else { return Vec::new() };
    let own = state.queues.iter().find(|own| *own.name == *queue.name);
    let guaranteed = own.map(|own| own.guaranteed.amounts()).filter(|amounts| !amounts.is_empty());
    let mut kept: Vec<String> =
        guaranteed.iter().map(|amounts| format!("guarantee {}", spaced(amounts))).collect();
    let pods: BTreeSet<&str> = evicted.map(|evicted| evicted.pod.name.as_str()).collect();
    let gangs = state.pods.iter().filter(|pod| pods.contains(pod.name.as_str())).filter_map(Pod::gang);
    let minimums: BTreeSet<u32> = gangs.map(|gang| gang.min_available).collect();
    kept.extend(minimums.iter().map(|minimum| format!("gang minimum {minimum}")));
    kept
}

fn blocked(simulation: &Simulation) -> usize {
    let passed_over = simulation.steps.iter().flat_map(|step| &step.plan.passed_over);
    let by_budgets = passed_over.filter(|passed| passed.reason == KeptReason::Budget);
    by_budgets.map(|passed| &passed.pod).collect::<BTreeSet<_>>().len()
}

fn unmeetable(old: &Plan, new: &Plan) -> BTreeMap<String, Amounts> {
    let is_met = |name: &QueueName| old.queues.get(name).is_none_or(|queue| queue.unmeetable.is_empty());
    let unmeetable = new.queues.iter().filter(|(name, queue)| !queue.unmeetable.is_empty() && is_met(name));
    unmeetable.map(|(name, queue)| (name.in_words(), queue.unmeetable.clone())).collect()
}

/// The queue that loses most of what it deserved. One without a share in the end loses all of it.
fn deepest_drop(queues: &[QueueDiff]) -> Option<(String, u64)> {
    let drops = queues.iter().filter_map(|queue| {
        let (before, after) = &queue.deserved;
        let (old, new) = (before.as_ref()?, after.clone().unwrap_or_default());
        let drops = old.iter().filter_map(|(resource, before)| {
            let lost = before.less(new.get(resource)).units();
            u64::try_from(lost.saturating_mul(10_000).checked_div(before.units())?).ok()
        });
        Some((queue.name.in_words(), drops.max().filter(|drop| *drop > 0)?))
    });
    drops.max_by_key(|(_, drop)| *drop)
}

fn unmet_only_in(old: &Plan, new: &Plan) -> Vec<String> {
    let pods = |plan: &Plan| -> BTreeMap<(QueueName, String), u32> {
        all_unmet(plan)
            .map(|(name, _, unmet)| ((name.clone(), unmet.preemptor.to_string()), unmet.pods))
            .collect()
    };
    let before = pods(old);
    let more = all_unmet(new).filter(|(name, _, unmet)| {
        let key = ((*name).clone(), unmet.preemptor.to_string());
        before.get(&key).is_none_or(|pods| *pods < unmet.pods) && unmet.reason != ShortReason::RoomAvailable
    });
    more.map(|(name, queue, unmet)| {
        format!("{} in {}: {}", unmet.preemptor, name.in_words(), why_not_started(name, queue, unmet))
    })
    .collect()
}
