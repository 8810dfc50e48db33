//! Trust: how many of the pods that a workload lacks count as demand, and what is set aside.
//!
//! ```text
//!            10 s of evidence               had room, did not start
//!  trusted ──────────────────► one at a time ────────────────────► set aside for 1, 2, 4 … 30 min
//!     ▲    all it lacks counts        ▲  1 and as many as are Ready            │ what never started counts not
//!     │                               └────────────────────────────────────────┘
//!     └─ an hour without             time is up, a new spec, a new node, free room
//! ```
//!
//! A broken image, an unbound claim or a missing `ServiceAccount` would otherwise take a share again with every try and every
//! redeploy; and sound work waits for nothing. Evidence is kept by top workload, so that a new ReplicaSet or Job inherits it.
//! What runs always counts: readiness never lowers demand.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::PendingPods;
use super::evidence::{Workloads, is_proven};
use crate::amounts::{Amounts, Bounds, Resource};
use crate::names::{OwnerUid, PodUid};
use crate::nodes::Nodes;
use crate::reasons::ShortReason;
use crate::snapshot::{NamespaceState, OwnerKind, Phase, Pod, Queue, SetAside};
use crate::time::{Timestamp, earliest};
use crate::total::total;

/// How much earlier than by its own time a pod is set aside together with others of its workload.
const TOGETHER_SECONDS: i64 = 30;

/// Which pods of a queue do not count as demand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trust {
    /// The pods that had room and never started. They do not count, but as far as they lie within what is guaranteed.
    ignored: BTreeMap<PodUid, ShortReason>,
    /// Those of them that do not count as demand: what lies within guarantees does.
    uncounted: BTreeSet<PodUid>,
}

impl Trust {
    /// Whether what `pod` requests counts as demand.
    pub(crate) fn counts(&self, pod: &Pod) -> bool {
        self.counts_all() || !self.uncounted.contains(&pod.uid)
    }

    /// Whether all pods count.
    pub(crate) fn counts_all(&self) -> bool {
        self.uncounted.is_empty()
    }

    /// Why no pod is evicted for `pod`, if it had room for long enough and did not start.
    pub(crate) fn why_ignored(&self, pod: &Pod) -> Option<ShortReason> {
        self.ignored.get(&pod.uid).copied()
    }
}

/// What is decided about the workloads of one namespace.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) trust: Trust,
    /// What the live pods request that count.
    pub(super) live: Amounts,
    /// What is set aside, or was within the last hour.
    pub(super) set_aside: BTreeMap<OwnerUid, SetAside>,
    /// How many pods of the other owners have been Ready at most meanwhile.
    pub(super) proven: BTreeMap<OwnerUid, u32>,
    /// What was set aside just now: demand falls by it at once.
    pub(super) dropped: Amounts,
    /// When something of this changes although nothing happens.
    pub(super) next_change: Option<Timestamp>,
    /// When a workload that is set aside counts again, or is trusted again.
    pub(super) next_try: Option<Timestamp>,
}

/// Decides which pods count, of all that request `live`, and how many of those that `pending_pods` lack.
pub(super) fn assess<'a>(
    queue: &'a Queue,
    state: &'a NamespaceState,
    pending_pods: &mut [PendingPods<'a>],
    live: Amounts,
    nodes: &Nodes<'a>,
) -> Verdict {
    let (mut workloads, now) = (Workloads::of(queue, state, pending_pods, nodes), nodes.snapshot().now);
    let mut verdict = Verdict { live, next_change: workloads.next_change, ..Verdict::default() };
    verdict.set_aside = workloads.set_aside();
    if !verdict.set_aside.is_empty() {
        verdict.proven = workloads.most_proven(&state.owners, &queue.remembered.proven);
    }
    let mut assessment = Assessment { workloads, verdict, now };
    let late = assessment.late_pods(state);
    assessment.limit(pending_pods, false);
    assessment.ignore(&queue.guaranteed, late, pending_pods);
    assessment.limit(pending_pods, true);
    let Assessment { workloads, mut verdict, .. } = assessment;
    let mut counted = verdict.live.plus(&total(pending_pods.iter().map(PendingPods::requests)));
    for pending in pending_pods.iter_mut() {
        let requests = &pending.owner.shape.requests;
        let more =
            within(&queue.guaranteed, &counted, requests).min(pending.pods.saturating_sub(pending.counted));
        pending.counted = pending.counted.saturating_add(more);
        counted.add_all(&requests.times(more));
    }
    verdict.next_change = earliest(verdict.next_change, workloads.due());
    let entries = verdict.set_aside.values().flat_map(|entry| [entry.until(), entry.evidence_until()]);
    verdict.next_try = entries.filter(|at| *at > now).min();
    verdict
}

/// The verdict while it is found.
struct Assessment<'n, 'a> {
    workloads: Workloads<'n, 'a>,
    verdict: Verdict,
    now: Timestamp,
}

impl Assessment<'_, '_> {
    /// The pods that count only on trial or within guarantees, first to count first: they never started, and their workload is
    /// set aside or was.
    fn late_pods<'s>(&mut self, state: &'s NamespaceState) -> Vec<&'s Pod> {
        let Self { workloads, verdict, now } = self;
        if verdict.set_aside.is_empty() {
            return Vec::new();
        }
        let mut late: Vec<&Pod> = Vec::new();
        for pod in
            state.pods.iter().filter(|pod| pod.is_live() && pod.phase == Phase::Pending && !is_proven(pod))
        {
            let due = workloads.deadline(pod);
            let Some((evidence, _)) = workloads.of_pod(pod) else { continue };
            let Some(entry) = evidence.entry.as_ref().filter(|entry| entry.times > 0) else { continue };
            let is_late = due.is_some_and(|due| due <= entry.since.plus_seconds(TOGETHER_SECONDS).max(*now));
            // On trial it gets no further pod by taking room that another workload of its queue asked for.
            if !entry.is_active(*now) || is_late || pod.node.is_none() || pod.created > entry.since {
                evidence.has_late_pods = true;
                late.push(pod);
            } else {
                verdict.next_change = earliest(verdict.next_change, due);
            }
        }
        late.sort_by_key(|pod| (Reverse(pod.priority), pod.created, &pod.uid));
        late
    }

    /// Finds which of the pods that are `late` do not count: neither are they on trial nor do they lie within what is
    /// `guaranteed`, beside all that counts of other workloads.
    ///
    /// What owners lack is part of that: a pod on its way out and the one that comes in its place leave the same to others, so
    /// that no eviction changes what counts.
    fn ignore(&mut self, guaranteed: &Bounds, late: Vec<&Pod>, pending_pods: &[PendingPods<'_>]) {
        let Self { workloads, verdict, now } = self;
        if late.is_empty() {
            return;
        }
        for pod in &late {
            verdict.live.subtract_all(pod.requests());
        }
        let mut is_decided = |pending: &&PendingPods<'_>| {
            workloads.of_owner(pending.owner).is_none_or(|(evidence, _)| !evidence.has_late_pods)
        };
        let lacking = total(pending_pods.iter().filter(&mut is_decided).map(PendingPods::requests));
        for pod in late {
            let guaranteed = within(guaranteed, &verdict.live.plus(&lacking), pod.requests()) > 0;
            let Some((evidence, progress)) = workloads.of_pod(pod) else { continue };
            let active = evidence.entry.as_ref().is_some_and(|entry| entry.is_active(*now));
            // A gang is tried as far as its minimum: with less of it none is of use.
            let minimum = pod.gang().map_or(0, |gang| gang.min_available);
            let on_trial = !active && progress.tried < minimum.max(progress.proven.saturating_add(1));
            if on_trial || guaranteed {
                verdict.live.add_all(pod.requests());
            }
            if on_trial {
                progress.tried = progress.tried.saturating_add(1);
                continue;
            }
            if !guaranteed {
                verdict.trust.uncounted.insert(pod.uid.clone());
                progress.making = progress.making.saturating_sub(1);
                if evidence.is_new {
                    verdict.dropped.add_all(pod.requests());
                }
            }
            let reason = if active { ShortReason::SetAside } else { ShortReason::OneAtATime };
            verdict.trust.ignored.insert(pod.uid.clone(), reason);
        }
    }

    /// Limits what counts of owners whose workload is set aside, or not trusted: of those with late pods, or of the others.
    fn limit(&mut self, pending_pods: &mut [PendingPods<'_>], with_late_pods: bool) {
        let Self { workloads, verdict, now } = self;
        // The newest owner is the one that the others make way for.
        let mut newest_first: Vec<&mut PendingPods<'_>> =
            pending_pods.iter_mut().filter(|pending| pending.owner.kind != OwnerKind::QueueJob).collect();
        newest_first.sort_by(|a, b| (b.owner.created, &b.owner.uid).cmp(&(a.owner.created, &a.owner.uid)));
        for pending in newest_first {
            let unit = workloads.lacking_of_gang(pending.owner);
            let Some((evidence, progress)) = workloads.of_owner(pending.owner) else { continue };
            if evidence.has_late_pods != with_late_pods {
                continue;
            }
            let until = evidence.entry.as_ref().filter(|entry| entry.is_active(*now)).map(SetAside::until);
            let is_evident = evidence.evident.is_some_and(|since| since <= *now);
            if until.is_none() && !is_evident && verdict.set_aside.is_empty() {
                continue;
            }
            let in_the_making = progress.making.saturating_add(evidence.counted);
            // Those that went, and what they showed.
            let shown = progress.gone.saturating_mul(2).saturating_add(progress.proven);
            let one_more = shown.saturating_add(1).saturating_sub(in_the_making);
            let allowed = if unit > 0 { unit } else { one_more };
            // Where all its pods count, those that come in the place of evicted ones do until these are gone.
            let all_count = evidence.entry.as_ref().is_none_or(|entry| entry.times == 0);
            let replaced = if all_count { progress.leaving.saturating_sub(evidence.counted) } else { 0 };
            let allowed = allowed.max(replaced).min(pending.pods);
            if until.is_some() {
                pending.counted = 0;
                pending.set_aside = until;
                if evidence.is_new {
                    verdict.dropped.add_all(&pending.owner.shape.requests.times(allowed));
                }
            } else {
                pending.counted = allowed;
                evidence.counted = evidence.counted.saturating_add(allowed);
            }
        }
    }
}

/// How many pods with these `requests` lie within what is `guaranteed`, beside `used`.
///
/// A guarantee on a device needs none on cpu or memory beside it, and one on cpu none on memory.
pub(crate) fn within(guaranteed: &Bounds, used: &Amounts, requests: &Amounts) -> u32 {
    let mut most: Option<i128> = None;
    for (resource, amount) in requests.iter().filter(|(_, amount)| amount.is_positive()) {
        match guaranteed.get(resource) {
            Some(bound) => {
                let fit = bound.less(used.get(resource)).units().checked_div(amount.units()).unwrap_or(0);
                most = Some(most.map_or(fit, |most| most.min(fit)));
            }
            None if matches!(resource, Resource::Cpu | Resource::Memory) => {}
            None => return 0,
        }
    }
    u32::try_from(most.unwrap_or(0)).unwrap_or(u32::MAX)
}
