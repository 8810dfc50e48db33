//! Why a pod is evicted, kept or cannot start, and why none is evicted for a queue, as sentences.

use quotient_engine::amounts::Amounts;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan, QueueJobPlan, QueuePlan, Scaling, SlotReason, Unmet};
use quotient_engine::reasons::{EvictionReason, ShortReason};

use quotient_operator::slots;
use quotient_operator::status::{cause, why_unmet};

use crate::output::{self, counted, list, sum};

/// Why `eviction` is part of `plan`, for people.
pub(crate) fn why(eviction: &Eviction, plan: &Plan) -> String {
    let queue = &eviction.queue;
    let used = eviction.used.compact();
    let deserved = eviction.deserved.compact();
    let numbers = |name| plan.queues.get(name);
    match (eviction.reason, &eviction.beneficiary) {
        (EvictionReason::Overcommitted, _) => {
            let allocated = numbers(queue).map_or_else(Amounts::new, |queue| queue.allocated.clone());
            format!("{queue} uses {used} and is allocated {}", allocated.compact())
        }
        (EvictionReason::MovedAside, Some(beneficiary)) => format!(
            "{beneficiary} needs its room on this node for a pod within what is guaranteed; {queue} keeps its quota"
        ),
        (_, Some(beneficiary)) => {
            let short = numbers(beneficiary).map(|queue| queue.lacking.compact());
            let need = match short.filter(|short| short != "0") {
                Some(short) => format!("{beneficiary} is short of {short}"),
                // It has its share, but not where its pods can use it.
                None => format!("{beneficiary} needs its room on this node"),
            };
            format!("{need}; {queue} uses {used} and deserves {deserved}")
        }
        (reason, None) => format!("{reason}: {queue} uses {used} and deserves {deserved}"),
    }
}

/// Why a terminating pod is evicted again, for people.
pub(super) fn why_again(again: &Eviction) -> String {
    match (&again.beneficiary, again.grace_seconds) {
        (Some(beneficiary), Some(grace)) => {
            format!(
                "gets {grace} s of grace, the most that its queue allows, because {beneficiary} needs its room"
            )
        }
        _ => "gets no more grace: eviction.forceAfterSeconds have passed since its deadline".to_owned(),
    }
}

/// What keeps `eviction` from being carried out by `plan`, for people.
pub(super) fn why_withheld(eviction: &Eviction, plan: &Plan) -> String {
    let queues = std::iter::once(&eviction.queue).chain(&eviction.beneficiary);
    let mut withheld = queues.filter_map(|name| plan.queues.get(name)?.reach.withheld());
    let why = why(eviction, plan);
    withheld
        .next()
        .map_or_else(|| why.clone(), |withheld| format!("{why}; it stays because {}", cause(&withheld)))
}

/// Why no pod is evicted for what `queue` lacks, for people; none if it lacks nothing, or pods are evicted for all of it.
pub(super) fn why_none(name: &QueueName, queue: &QueuePlan, plan: &Plan) -> Option<String> {
    let why = match queue.starved? {
        ShortReason::WaitingForPreemption | ShortReason::WaitingForQuota => return None,
        reason => {
            let withheld = queue.withheld.as_ref().filter(|_| reason == ShortReason::EvictionsDisabled);
            withheld.map_or_else(|| reason.because().to_owned(), cause)
        }
    };
    let for_it = plan.evictions.iter().filter(|eviction| eviction.beneficiary.as_ref() == Some(name));
    let coming = sum(for_it.map(|eviction| &eviction.requests));
    let short = queue.lacking.less(&coming);
    let deserved = queue.target.compact();
    (!short.is_empty()).then(|| format!("lacks {} of the deserved {deserved} because {why}", short.compact()))
}

/// `from 3 to 2 of 3 for ReplicaSet high, without low-2: Outranked`.
pub(super) fn how_scaled(scaling: &Scaling) -> String {
    let mut text = format!("from {} to {}", scaling.from, scaling.to);
    if let Some(former) = scaling.original_replicas {
        text = format!("{text} of {former}");
    }
    if !scaling.beneficiaries.is_empty() {
        text = format!("{text} for {}", list(&scaling.beneficiaries));
    }
    if !scaling.pods.is_empty() {
        text = format!("{text}, without {}", list(scaling.pods.iter().map(|pod| pod.name.as_str())));
    }
    format!("{text}: {}", scaling.reason)
}

/// Why it has no slots, for people; none if it has some or asks for none.
pub(crate) fn why_it_waits(job: &QueueJobPlan) -> Option<String> {
    let asks = !matches!(job.reason, SlotReason::Admitted | SlotReason::Suspended | SlotReason::Finished);
    (asks && job.total() == 0).then(|| slots::why_it_waits(job))
}

/// Everything unmet, by queue, each queue's most important first. Parents only repeat what their children have.
pub(crate) fn all_unmet(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan, &Unmet)> {
    let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
    leaves.flat_map(|(name, queue)| queue.unmet.iter().map(move |unmet| (name, queue, unmet)))
}

/// `team-x (ParentNotFound: …)`: the queues that have no share in `new` and had one in `old`, or did not exist.
pub(crate) fn stalled_only_in(old: &Plan, new: &Plan) -> Vec<String> {
    let stalled = new.stalled.iter().filter(|(name, _)| !old.stalled.contains_key(name));
    stalled
        .map(|(name, stall)| format!("{} ({}: {})", name.in_words(), stall.reason, stall.message))
        .collect()
}

/// `2 pods of 4c cannot start: Fragmented (…)`, with the operator's sentence. In general only with the cause that it names: a
/// line of a table has no room for what would help.
pub(crate) fn why_not_started(name: &QueueName, queue: &QueuePlan, unmet: &Unmet) -> String {
    let pods = counted(unmet.pods, "pod", "pods");
    let state = if unmet.reason == ShortReason::RoomAvailable { "can start" } else { "cannot start" };
    let (each, reason) = (unmet.requests.compact(), unmet.reason);
    let why = why_unmet(&name.namespace, queue, unmet);
    let is_cause_named = why.starts_with("The pods cannot start because ");
    let shown = if is_cause_named { output::cause(&why) } else { why.trim_end_matches('.') };
    format!("{pods} of {each} {state}: {reason} ({shown})")
}
