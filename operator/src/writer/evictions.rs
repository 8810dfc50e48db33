//! What is remembered of evictions, and what became of them: each pod once, none without need; and once more, with less grace,
//! those that end too slowly.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use quotient_engine::names::{PodName, QueueName, QueueUid};
use quotient_engine::plan::{Eviction, PodId};
use quotient_engine::reasons::EvictionReason;
use quotient_engine::time::Timestamp;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::eviction_outcome::{EvictionOutcome, Refusal, eviction_outcome};
use super::refusals::Refusals;
use crate::clock::Clock;
use crate::context::Context;
use crate::events::{Notice, Reclaimed};
use crate::executor::{Operation, Outcome, Purpose, shortens_grace};

/// How long a pod counts as leaving when that is only assumed.
const ASSUMED: Duration = Duration::from_secs(10);

/// How long an evicted pod without a grace of its queue's is taken to need, until the watch shows its real deadline.
const GRACE_SECONDS: u64 = 30;

/// How long a terminating pod is not asked for again.
const SHORTENED_INTERVAL: Duration = Duration::from_secs(30);

/// What metrics call the reason of a refusal that says nothing about the pod.
const OVERLOADED: &str = "Overloaded";

/// Paces evictions, and tells of them.
pub(super) struct Evictions {
    context: Context,
    pub(super) refusals: Refusals,
    /// The terminating pods of which it was told that they got less grace.
    ///
    /// Only a hint: after a restart each is asked for and told of once more, which changes nothing where a finalizer holds it.
    shortened: BTreeSet<PodId>,
    /// Pods that count as leaving although nothing has confirmed it, and until when.
    assumed: Vec<(Instant, PodId)>,
    /// The evictions that were accepted and that no workload was told of.
    evicted: Vec<Eviction>,
    /// The pods that went without grace, by queue, of which nothing was told.
    untold: BTreeMap<QueueName, Vec<PodName>>,
}

impl Evictions {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            refusals: Refusals::new(),
            shortened: BTreeSet::new(),
            assumed: Vec::new(),
            evicted: Vec::new(),
            untold: BTreeMap::new(),
        }
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        let assumed = self.assumed.iter().map(|(until, _)| *until).min();
        [assumed, self.refusals.next()].into_iter().flatten().min()
    }

    /// Pods that were only assumed to leave and are still there count as staying again.
    pub(super) fn end_assumptions(&mut self) {
        let now = Instant::now();
        let view = &self.context.view;
        self.assumed.retain(|(until, pod)| {
            let keep = now < *until;
            if !keep {
                view.update(|index| index.pod_eviction_forgotten(pod));
            }
            keep
        });
    }

    /// What of `wanted` may be asked for now.
    pub(super) fn due(&mut self, wanted: Vec<Operation>) -> Vec<Operation> {
        let now = Instant::now();
        let pods = wanted.iter().filter_map(|operation| match &operation.purpose {
            Purpose::Eviction { eviction, .. } => Some(&eviction.pod),
            _ => None,
        });
        let pods: HashSet<&PodId> = pods.collect();
        self.refusals.forget_old(&pods, now);
        self.shortened.retain(|pod| pods.contains(pod));
        let mut due = wanted;
        due.retain(|operation| match &operation.purpose {
            Purpose::Eviction { eviction, .. } if shortens_grace(eviction) => {
                !self.refusals.is_resting(&eviction.pod, now)
            }
            Purpose::Eviction { eviction, .. } => !self.refusals.is_waiting(&eviction.pod, now),
            _ => true,
        });
        due
    }

    /// Until they are answered, pods that were asked to go count as leaving: no other pod is evicted instead.
    pub(super) fn hold<'a>(&self, under_way: impl Iterator<Item = &'a Purpose>) {
        for purpose in under_way {
            if let Purpose::Eviction { eviction, .. } = purpose
                && !shortens_grace(eviction)
            {
                self.leaves(eviction);
            }
        }
    }

    /// Tells what went since this was called last.
    pub(super) fn report(&mut self) {
        let evicted = std::mem::take(&mut self.evicted);
        if !evicted.is_empty() {
            info!(pods = evicted.len(), "evicted pods");
            self.context.recorder.announce_reclaimed(&evicted);
        }
        for (queue, mut pods) in std::mem::take(&mut self.untold) {
            pods.sort_unstable();
            self.context.recorder.record(Notice::force_deleted(queue, &pods));
        }
    }

    /// Takes note of what became of an eviction; `queue` is the id of the queue that loses the pod, which ran since `started`.
    pub(super) fn settle(
        &mut self,
        eviction: &Eviction,
        (queue, started): (Option<&QueueUid>, Option<Timestamp>),
        outcome: &Outcome,
    ) {
        if shortens_grace(eviction) {
            return self.settle_again(eviction, outcome);
        }
        let pod = &eviction.pod;
        let Some(verdict) = eviction_outcome(outcome) else { return self.stays(pod) };
        self.context.decisions.answered(pod, &verdict.to_string());
        let named = format!("{}/{}", pod.namespace, pod.name);
        match verdict {
            EvictionOutcome::Evicted => {
                debug!(pod = named, queue = %eviction.queue, reason = %eviction.reason, "evicted");
                self.evicted(eviction, queue, started);
            }
            EvictionOutcome::Gone => {
                debug!(pod = named, "to be evicted, but gone already");
                self.refusals.granted(pod);
                self.assume_leaving(eviction);
            }
            EvictionOutcome::Refused(refusal, why) => self.refused(eviction, refusal, why),
            EvictionOutcome::Busy(why) => {
                debug!(pod = named, why, "the API server has no time for the eviction");
                self.context.metrics.queues.refused(&eviction.queue, OVERLOADED);
                self.stays(pod);
                self.refusals.busy(pod, Instant::now());
            }
            EvictionOutcome::Unknown(why) => {
                warn!(pod = named, error = why, "whether the pod was evicted is not known");
                self.assume_leaving(eviction);
            }
        }
    }

    fn evicted(&mut self, eviction: &Eviction, queue: Option<&QueueUid>, started: Option<Timestamp>) {
        let Context { clock, reclaims, metrics, .. } = &self.context;
        if let Some(queue) = queue {
            reclaims.record(queue, eviction, clock.now());
        }
        let ran = started.map_or(0, |started| clock.engine_now().millis_since(started));
        let ran = Duration::from_millis(u64::try_from(ran).unwrap_or_default());
        metrics.queues.evicted(&eviction.queue, eviction.reason, ran);
        self.refusals.granted(&eviction.pod);
        self.leaves(eviction);
        self.report_pod(eviction);
        self.evicted.push(eviction.clone());
    }

    fn refused(&mut self, eviction: &Eviction, refusal: Refusal, why: String) {
        let pod = &eviction.pod;
        let named = format!("{}/{}", pod.namespace, pod.name);
        if refusal.is_by_budget() {
            debug!(pod = named, why, "the eviction is blocked");
        } else {
            warn!(pod = named, error = why, "the eviction was refused");
        }
        self.context.metrics.queues.refused(&eviction.queue, refusal.name());
        self.stays(pod);
        let now = Instant::now();
        // An admission webhook that restarts, rights that are being changed: no other pod is evicted instead before the API
        // server has refused twice.
        if !refusal.is_by_budget() && self.refusals.doubts(pod, now) {
            return;
        }
        let until = self.refusals.refused(eviction, why, now);
        let until = after(&self.context.clock, until.duration_since(now));
        // The next plan goes without this pod, and is made at once.
        self.context.view.update(|index| index.eviction_refused(pod, until));
    }

    /// Takes note of what became of a terminating pod that was to get less grace.
    fn settle_again(&mut self, eviction: &Eviction, outcome: &Outcome) {
        let Some(verdict) = eviction_outcome(outcome) else { return };
        let Eviction { pod, queue, grace_seconds, .. } = eviction;
        let named = format!("{}/{}", pod.namespace, pod.name);
        self.refusals.rest(pod, SHORTENED_INTERVAL, Instant::now());
        let count = |reason| self.context.metrics.queues.refused(queue, reason);
        match verdict {
            EvictionOutcome::Evicted => {
                let is_news = self.shortened.insert(pod.clone());
                if is_news {
                    info!(pod = named, grace_seconds, reason = %eviction.reason, "evicted a terminating pod again");
                }
                if eviction.reason == EvictionReason::ForceDeleted {
                    self.context.metrics.evictions.forced.inc();
                    if is_news {
                        self.untold.entry(queue.clone()).or_default().push(pod.name.clone());
                    }
                } else if is_news {
                    self.report_pod(eviction);
                }
            }
            EvictionOutcome::Gone => debug!(pod = named, "to be evicted again, but gone already"),
            EvictionOutcome::Refused(refusal, why) => {
                count(refusal.name());
                warn!(pod = named, error = why, "the terminating pod was not evicted again");
            }
            EvictionOutcome::Busy(why) => {
                count(OVERLOADED);
                debug!(pod = named, why, "the API server has no time to evict the terminating pod again");
            }
            EvictionOutcome::Unknown(why) => {
                warn!(pod = named, error = why, "whether the terminating pod was evicted again is not known");
            }
        }
    }

    fn report_pod(&self, eviction: &Eviction) {
        self.context.recorder.record(Reclaimed::of_pod(eviction).notice());
    }

    /// The pod does not leave, as far as is known.
    fn stays(&self, pod: &PodId) {
        self.context.view.update(|index| index.pod_eviction_forgotten(pod));
    }

    /// The pod leaves within its grace.
    fn leaves(&self, eviction: &Eviction) {
        let grace = eviction.grace_seconds.map_or(GRACE_SECONDS, u64::from);
        let gone_by = after(&self.context.clock, Duration::from_secs(grace));
        self.context.view.update(|index| index.pod_evicted(&eviction.pod, gone_by));
    }

    fn assume_leaving(&mut self, eviction: &Eviction) {
        self.leaves(eviction);
        let now = Instant::now();
        self.assumed.push((now.checked_add(ASSUMED).unwrap_or(now), eviction.pod.clone()));
    }
}

/// The time `wait` from now.
fn after(clock: &Clock, wait: Duration) -> Timestamp {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(clock.engine_now().millis().saturating_add(wait))
}
