//! The demand of a queue: what its pods and their owners show, at least its standing claim.
//!
//! ```text
//! live pods ──┐          ineffective: out          at once up, slowly down
//!             ├──► shown ────────────────► max(request) ──► window ──► demand
//! owners ─────┘    (wanted − live)
//! ```
//!
//! Refused pods never exist, so demand has to come from their owners. And what nothing comes of must not count: a
//! Job of ten thousand pods that no node can run would otherwise empty its neighbours' queues for nothing.

mod asks;
mod taken_up;
mod units;
mod window;

pub(crate) use asks::{Ask, asks};
pub(crate) use taken_up::{first_patience, is_ignored, node_patience};
pub(crate) use units::{Stock, Unit, alike, lacking, smallest, together};

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::amounts::Amounts;
use crate::census::Headcount;
use crate::names::OwnerUid;
use crate::snapshot::{NamespaceState, NotTakenUp, Pod, Queue, Remembered, Snapshot};
use crate::time::Timestamp;
use taken_up::Idleness;

/// What one leaf asks for, and why.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand<'a> {
    /// What counts, of every resource.
    pub(crate) counted: Amounts,
    /// The owners that want more pods than there are.
    pub(crate) asks: Vec<Ask<'a>>,
    /// What live pods request and owners lack, whether it counts or not.
    pub(crate) known: Amounts,
    /// What owners want, whether they have it or not: units that come back when they are evicted.
    pub(crate) lasting: Amounts,
    /// The demand of today for the decision of tomorrow; what else there is to remember stays as it was.
    pub(crate) remember: Remembered,
    /// When the demand changes although nothing happens.
    pub(crate) next_change: Option<Timestamp>,
}

impl<'a> Demand<'a> {
    /// Looks at a namespace and its queue.
    pub(crate) fn of(
        queue: &Queue,
        state: &'a NamespaceState,
        headcount: &Headcount,
        capacity: &Amounts,
        snapshot: &Snapshot,
    ) -> Self {
        let (settings, now) = (&snapshot.settings, snapshot.now);
        let before = &queue.remembered;
        // Whether pods are created is known only once their queue's room is.
        let ignored = before.not_taken_up.iter().filter(|(_, entry)| !entry.not_created);
        let ignored: BTreeMap<OwnerUid, NotTakenUp> =
            ignored.map(|(uid, entry)| (uid.clone(), *entry)).collect();
        let idleness = if headcount.stuck || !ignored.is_empty() {
            taken_up::look(state, &ignored, settings, now)
        } else {
            Idleness::default()
        };
        let mut remember = Remembered { not_taken_up: idleness.entries, ..before.clone() };
        let mut next_change = idleness.next_change;
        let mut asks = asks::asks(state, &remember.not_taken_up);
        for job in state.queue_jobs.iter().filter(|job| job.is_resting(now)) {
            // It could not use what it had; nobody is to go for it until it tries again.
            let of_job = |ask: &&mut Ask<'_>| job.tasks.iter().any(|task| task.owner == ask.owner.uid);
            asks.iter_mut().filter(of_job).for_each(|ask| ask.not_taken_up = true);
        }

        let live = headcount.all_staying();
        let (mut known, mut counts) = (live.clone(), live);
        for ask in &asks {
            known.add_all(&ask.requests());
            if !ask.not_taken_up {
                counts.add_all(&ask.requests());
            }
        }
        if !remember.not_taken_up.is_empty() {
            for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
                match taken_up::ignored_from(pod, &remember.not_taken_up) {
                    Some(from) if from > now => next_change = earliest(next_change, Some(from)),
                    Some(_) if pod.is_live() => counts.subtract_all(pod.requests()),
                    _ => {}
                }
            }
        }

        for (resource, least) in queue.request.iter() {
            // No claim is above what there is, so that the amounts shown stay readable.
            let least = least.min(capacity.get(resource));
            counts.set(resource, counts.get(resource).max(least));
        }
        let window = window::apply(counts, &headcount.leaving, before, now);
        remember.demand = window.demand.clone();
        remember.falling = window.falling;
        next_change = earliest(next_change, window.next_change);
        let mut lasting = Amounts::new();
        for owner in &state.owners {
            lasting.add_all(&owner.shape.requests.times(owner.rightful()));
        }
        Self { counted: window.demand, asks, known, lasting, remember, next_change }
    }

    /// Whether what `pod` requests does not count, because nothing came of it.
    pub(crate) fn ignores(&self, pod: &Pod, now: Timestamp) -> bool {
        !self.remember.not_taken_up.is_empty() && taken_up::is_ignored(pod, &self.remember.not_taken_up, now)
    }
}

/// The earlier of two instants, if there is any.
pub(crate) fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// How many live pods each owner has.
fn live_by_owner(state: &NamespaceState) -> FxHashMap<&OwnerUid, u32> {
    let mut live: FxHashMap<&OwnerUid, u32> = FxHashMap::default();
    let mut pods = state.pods.iter().filter(|pod| pod.is_live()).peekable();
    while let Some(first) = pods.next() {
        // Pods of an owner stand together as a rule, and share their ties.
        let mut together = 1u32;
        while pods.next_if(|pod| Arc::ptr_eq(&pod.ties, &first.ties)).is_some() {
            together = together.saturating_add(1);
        }
        if let Some(owner) = first.owner() {
            let count = live.entry(owner).or_default();
            *count = count.saturating_add(together);
        }
    }
    live
}
