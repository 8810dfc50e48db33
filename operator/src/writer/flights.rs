//! Evictions that were asked for and are not answered yet.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::resume_unwind;

use quotient_engine::names::{Namespace, QueueUid};
use quotient_engine::plan::{Eviction, PodId};
use quotient_engine::time::Timestamp;
use tokio::task::{JoinError, JoinSet};

use super::verdict::Verdict;

/// What was asked for.
#[derive(Debug)]
pub(super) enum InFlight {
    /// A pod that runs.
    Victim {
        /// The decision.
        eviction: Box<Eviction>,
        /// The id of the queue that loses it.
        queue: Option<QueueUid>,
        /// Since when it has run. The pod may be gone before the answer is there.
        started: Option<Timestamp>,
    },
    /// A terminating pod that is to get less grace.
    Again(Box<Eviction>),
}

/// Evictions under way. They end as they do whether somebody waits for them or not; dropping this ends them where they
/// are.
#[derive(Debug, Default)]
pub(super) struct Flights {
    calls: JoinSet<(PodId, Option<Verdict>)>,
    under_way: BTreeMap<PodId, InFlight>,
    by_namespace: BTreeMap<Namespace, usize>,
}

/// One that has ended: how, if it was sent at all.
pub(super) type Completed = (PodId, InFlight, Option<Verdict>);

impl Flights {
    /// Sends `call`, which asks `pod` to go.
    pub(super) fn begin(
        &mut self,
        pod: PodId,
        flight: InFlight,
        call: impl Future<Output = Option<Verdict>> + Send + 'static,
    ) {
        if self.under_way.insert(pod.clone(), flight).is_none() {
            let count = self.by_namespace.entry(pod.namespace.clone()).or_default();
            *count = count.saturating_add(1);
        }
        self.calls.spawn(async move { (pod, call.await) });
    }

    /// How many are under way in `namespace`.
    pub(super) fn count_in(&self, namespace: &Namespace) -> usize {
        self.by_namespace.get(namespace).copied().unwrap_or_default()
    }

    pub(super) fn contains(&self, pod: &PodId) -> bool {
        self.under_way.contains_key(pod)
    }

    /// What is under way.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PodId, &InFlight)> {
        self.under_way.iter()
    }

    /// Waits until one has ended; none if none is under way. Nothing is lost if the waiting is given up.
    pub(super) async fn landed(&mut self) -> Option<Completed> {
        let joined = self.calls.join_next().await?;
        self.take(joined)
    }

    /// One that has ended already.
    pub(super) fn landed_already(&mut self) -> Option<Completed> {
        let joined = self.calls.try_join_next()?;
        self.take(joined)
    }

    fn take(&mut self, joined: Result<(PodId, Option<Verdict>), JoinError>) -> Option<Completed> {
        // Nothing is ever aborted while it is waited for, so it panicked: as if it had been called here.
        let (pod, verdict) = joined.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        let flight = self.under_way.remove(&pod)?;
        if let Entry::Occupied(mut count) = self.by_namespace.entry(pod.namespace.clone()) {
            *count.get_mut() = count.get().saturating_sub(1);
            if *count.get() == 0 {
                count.remove();
            }
        }
        Some((pod, flight, verdict))
    }
}
