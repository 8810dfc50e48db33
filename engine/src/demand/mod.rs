//! The demand of a queue: what its pods and their owners show, at least its standing claim.
//!
//! ```text
//! live pods ──┐          trust: some out           at once up, slowly down
//!             ├──► shown ────────────────► max(request) ──► window ──► demand
//! owners ─────┘    (wanted − live)
//! ```
//!
//! Rejected pods never exist, so demand has to come from their owners. And what never starts must not count: a
//! Job of ten thousand pods that no node can run would otherwise empty other queues for nothing.

mod evidence;
mod pending_pods;
mod trust;
mod window;

pub(crate) use evidence::node_patience;
pub(crate) use pending_pods::{PendingPods, by_gang, members};
pub(crate) use trust::{Trust, within};

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::keyed::KeyedMap;
use crate::names::OwnerUid;
use crate::nodes::Nodes;
use crate::snapshot::{NamespaceState, Pod, Queue, QueueJob, Remembered};
use crate::time::{Timestamp, earliest};
use crate::total::total;
use crate::usage::{NamespaceUsage, Usage};
use trust::Verdict;

/// The demand of one leaf, and why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand<'a> {
    /// The owners that want more pods than there are.
    pub(crate) pending_pods: Vec<PendingPods<'a>>,
    /// Which pods do not count, and how many of those that owners lack do.
    pub(crate) trust: Trust,
    /// The part of it that known pods show: what live pods request and owners lack, as far as it counts.
    pub(crate) shown: Amounts,
    /// What counts, of every resource, as it is remembered for the next decision; what else there is to remember stays as it was.
    pub(crate) remember: Remembered,
    /// When the demand changes although nothing happens.
    pub(crate) next_change: Option<Timestamp>,
    /// When a workload that is set aside counts again, or is trusted again.
    pub(crate) next_try: Option<Timestamp>,
}

impl<'a> Demand<'a> {
    /// Looks at a namespace and its queue.
    pub(crate) fn of(
        queue: &'a Queue,
        state: &'a NamespaceState,
        namespace_usage: &NamespaceUsage,
        capacity: &Amounts,
        nodes: &Nodes<'a>,
    ) -> Self {
        let now = nodes.snapshot().now;
        let before = &queue.remembered;
        let mut pending_pods = pending_pods::of_owners(state);
        let live = namespace_usage.all_staying();
        let is_quiet = !namespace_usage.stuck && before.set_aside.is_empty() && before.waiting.is_empty();
        let verdict = if is_quiet && !pending_pods.iter().any(|pending| pending.owner.fails) {
            Verdict { live, ..Verdict::default() }
        } else {
            trust::assess(queue, state, &mut pending_pods, live, nodes)
        };
        // They could not use what they had; no pod is evicted for them until they try again.
        let resting = state.queue_jobs.iter().filter(|job| job.is_resting(now));
        let until = |job: &'a QueueJob| job.tasks.iter().map(|task| (&task.owner, job.rests_until(now)));
        let resting: KeyedMap<&OwnerUid, Option<Timestamp>> = resting.flat_map(until).collect();
        for pending in &mut pending_pods {
            if let Some(retry_at) = resting.get(&pending.owner.uid) {
                (pending.counted, pending.set_aside) = (0, *retry_at);
            }
        }
        let mut counts = verdict.live.plus(&total(pending_pods.iter().map(PendingPods::requests)));
        let (waiting, not_created) = (BTreeMap::new(), BTreeMap::new());
        let mut remember = Remembered {
            set_aside: verdict.set_aside,
            proven: verdict.proven,
            waiting,
            not_created,
            ..before.clone()
        };

        let shown = counts.clone();
        // A namespace that is being deleted claims nothing for pods that cannot come any more.
        for (resource, least) in queue.request.iter().filter(|_| !state.terminating) {
            // No claim is above what there is, so that the amounts shown stay readable.
            let least = least.min(capacity.get(resource));
            counts.set(resource, counts.get(resource).max(least));
        }
        remember.demand = remember.demand.less(&verdict.dropped);
        let falls = window::follow(&mut remember, counts, &namespace_usage.leaving, now);
        let due = [falls, next_unheard(state, namespace_usage, now)];
        let next_change = due.into_iter().fold(verdict.next_change, earliest);
        let (trust, next_try) = (verdict.trust, verdict.next_try);
        Self { pending_pods, trust, shown, remember, next_change, next_try }
    }
}

/// When the next pod counts as one that no scheduler looks at.
fn next_unheard(state: &NamespaceState, usage: &NamespaceUsage, now: Timestamp) -> Option<Timestamp> {
    let pods = state.pods.iter().filter(|pod| usage.pods.pending > 0 && pod.is_live());
    pods.filter_map(Pod::unheard_from).filter(|from| *from > now).min()
}

/// Until when the first pod that waits for a node that an autoscaler may add is waited for; none if no pod does.
pub(crate) fn first_patience(usage: &Usage<'_>) -> Option<Timestamp> {
    let snapshot = usage.snapshot;
    if snapshot.settings.expandable.is_empty() {
        return None;
    }
    let namespaces = snapshot.namespaces.values().zip(usage.namespaces.values());
    let stuck = namespaces.filter(|(_, namespace_usage)| namespace_usage.stuck);
    let live = stuck.flat_map(|(state, _)| &state.pods).filter(|pod| pod.is_live());
    live.filter_map(|pod| node_patience(pod, &snapshot.settings, snapshot.now)).min()
}
