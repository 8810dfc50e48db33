//! Which statuses are to be written now, and which later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use quotient_crds::{QueueStatus, RecentReclaim};
use quotient_engine::names::{QueueName, QueueUid};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_index::SkippedObject;
use quotient_index::queues::ObservedQueue;
use tokio::time::Instant;

use super::pace::{Pacer, When};
use super::patch::status_patch;
use super::task::Report;
use super::{Circumstances, Overview, QuotaState, compose};
use crate::context::Context;
use crate::executor::{Class, Executor, Key, Kind, Life, Object, Operation, Purpose};

/// How long a written quota may take to be enforced before that is worth a condition.
const NORMAL: Duration = Duration::from_secs(2);

/// How many statuses that only inform are written in one go, and how long until the next go: they leave room for what cannot
/// wait.
const AT_ONCE: usize = 50;
const PAUSE: Duration = Duration::from_millis(200);

/// How long the same status is not sent again to a Queue that does not show it: it cannot be read back, or another
/// writer writes it, too.
const STATUS_RESEND_INTERVAL: Duration = Duration::from_secs(60);

/// Remembers, per Queue, what keeps its status from being written too often.
pub(super) struct StatusChanges {
    context: Context,
    pacer: Pacer,
    /// Since when each queue's quota is not what the plan wants, or not enforced.
    unsettled: BTreeMap<QueueName, Instant>,
    /// What was sent last, and to which life of the Queue.
    sent: BTreeMap<QueueName, (Instant, QueueUid, QueueStatus)>,
    /// Queues that need nothing, as they were seen when that was found.
    quiet: BTreeMap<QueueName, Seen>,
    /// The report for which that was found.
    former: Option<Arc<Report>>,
}

/// A Queue, and the objects of its namespace that cannot be decoded, as they were seen.
type Seen = (Arc<ObservedQueue>, Option<Arc<Vec<SkippedObject>>>);

impl StatusChanges {
    pub(super) fn new(context: Context, interval: Duration) -> Self {
        Self {
            context,
            pacer: Pacer::new(interval),
            unsettled: BTreeMap::new(),
            sent: BTreeMap::new(),
            quiet: BTreeMap::new(),
            former: None,
        }
    }

    /// What is to be written now, and when to ask again. `executor` knows what failed.
    pub(super) fn due(
        &mut self,
        report: &Arc<Report>,
        executor: &mut Executor,
        now: Instant,
    ) -> (Vec<Operation>, Option<Instant>) {
        self.forget_absent(&report.plan, executor);
        let overview = Overview::of(&report.plan);
        let time = self.context.clock.now();
        let former = self.former.replace(Arc::clone(report));
        // Where nothing changed for all, only Queues with a change of their own are looked at.
        let comparable = former.filter(|former| overview.concerns_all_as(&Overview::of(&former.plan)));
        let (mut due, mut later, mut informing) = (Vec::new(), Vec::new(), 0_usize);
        for queue in report.plan.queues.keys().chain(report.plan.stalled.keys()) {
            let seen = self.context.view.read(|index| {
                let skipped = index.skipped_objects(&queue.namespace).cloned();
                index.observed_queue(queue).cloned().map(|observed| (observed, skipped))
            });
            let Some((observed, skipped)) = seen else { continue };
            if !concerns(&report.plan, queue, &observed) {
                continue;
            }
            let is_quiet = |(quiet, known): &(_, _)| Arc::ptr_eq(quiet, &observed) && *known == skipped;
            if comparable.as_ref().is_some_and(|former| same(former, report, queue))
                && self.quiet.get(queue).is_some_and(is_quiet)
                && !self.context.reclaims.has_unsaved(&observed.uid)
            {
                continue;
            }
            self.quiet.remove(queue);
            let stored = observed.status.as_ref();
            let circumstances = Circumstances {
                quota: self.quota_state(report, queue, now, &mut later),
                blocked: report.blocked.get(queue).cloned(),
                reclaims: self.context.reclaims.unsaved(&observed.uid, listed(stored)),
                skipped,
            };
            let wanted = compose(&overview, queue, observed.generation, stored, &circumstances, time);
            let Some(wanted) = wanted else { continue };
            self.context.metrics.queues.show_conditions(queue, &wanted.conditions);
            match self.when((queue, &observed), &wanted, executor, now) {
                // While a quota settles, time alone changes the status.
                When::Never if circumstances.quota == QuotaState::Settling => {}
                When::Never => {
                    self.quiet.insert(queue.clone(), (observed, circumstances.skipped));
                }
                When::Soon if informing == AT_ONCE => later.extend(now.checked_add(PAUSE)),
                when @ (When::Now | When::Soon) => {
                    informing = informing.saturating_add(usize::from(when == When::Soon));
                    match write(queue, &observed, wanted) {
                        Some(operation) => due.push(operation),
                        // It says the same in other words.
                        None => executor.retries.clear(&status_key(queue)),
                    }
                }
                When::At(at) => later.push(at),
            }
        }
        (due, later.into_iter().min())
    }

    /// The status of `queue` was written.
    pub(super) fn wrote(&mut self, queue: QueueName, uid: QueueUid, status: QueueStatus, now: Instant) {
        self.pacer.wrote(&queue, now);
        self.sent.insert(queue, (now, uid, status));
    }

    fn when(
        &mut self,
        (queue, observed): (&QueueName, &ObservedQueue),
        wanted: &QueueStatus,
        executor: &mut Executor,
        now: Instant,
    ) -> When {
        let when = self.pacer.when(queue, observed.status.as_ref(), wanted, now);
        if when == When::Never {
            executor.retries.clear(&status_key(queue));
            return when;
        }
        let stubborn =
            self.sent.get(queue).filter(|(_, uid, sent)| *uid == observed.uid && sent.same_meaning(wanted));
        let stubborn = stubborn.and_then(|(at, ..)| at.checked_add(STATUS_RESEND_INTERVAL));
        match executor.retries.until(&status_key(queue)).max(stubborn) {
            Some(until) if until > now => When::At(until),
            _ => when,
        }
    }

    fn quota_state(
        &mut self,
        report: &Report,
        queue: &QueueName,
        now: Instant,
        later: &mut Vec<Instant>,
    ) -> QuotaState {
        let is_settled = |plan: &QueuePlan| plan.quota_in_force || plan.quota_left_alone;
        if report.plan.queues.get(queue).is_none_or(is_settled) {
            self.unsettled.remove(queue);
            return QuotaState::InForce;
        }
        if let Some(why) = report.refused.get(queue) {
            return QuotaState::Refused(why.clone());
        }
        if let Some(what) = report.contested.get(queue) {
            return QuotaState::Contested(what.clone());
        }
        let since = *self.unsettled.entry(queue.clone()).or_insert(now);
        match since.checked_add(NORMAL) {
            Some(due) if due > now => {
                later.push(due);
                QuotaState::Settling
            }
            _ => QuotaState::Waiting,
        }
    }

    fn forget_absent(&mut self, plan: &Plan, executor: &mut Executor) {
        let exists = |queue: &QueueName| plan.queues.contains_key(queue) || plan.stalled.contains_key(queue);
        self.pacer.retain(exists);
        executor.wants(Class::Status, |key| exists(&key.queue()));
        self.unsettled.retain(|queue, _| exists(queue));
        self.sent.retain(|queue, _| exists(queue));
        self.quiet.retain(|queue, _| exists(queue));
        self.context.metrics.queues.retain_conditions(exists);
        let uids = plan.queues.values().map(|queue| &queue.uid);
        let uids: BTreeSet<&QueueUid> = uids.chain(plan.stalled.values().map(|stall| &stall.uid)).collect();
        self.context.reclaims.retain(|queue| uids.contains(queue));
    }
}

/// What the executor knows the status of `queue` by.
pub(super) fn status_key(queue: &QueueName) -> Key {
    Key::new(Class::Status, &queue.namespace, &queue.name)
}

/// Has the status of `queue` say what is `wanted`; none if it does.
fn write(queue: &QueueName, observed: &ObservedQueue, wanted: QueueStatus) -> Option<Operation> {
    let seen = Life::at(observed.uid.as_str(), observed.resource_version.as_ref());
    let (life, request) = status_patch(seen, observed.status.as_ref(), &wanted)?;
    let object = Object::new(Kind::Queue, &queue.namespace, Arc::clone(&queue.name));
    let (queue, uid, wanted) = (queue.clone(), observed.uid.clone(), Box::new(wanted));
    Some(Operation { purpose: Purpose::Status { queue, uid, wanted }, object, life, request })
}

/// What a status lists of evicted pods.
fn listed(status: Option<&QueueStatus>) -> &[RecentReclaim] {
    status.map(|status| status.recent_reclaims.as_slice()).unwrap_or_default()
}

/// Whether both reports say the same of `queue`.
fn same(former: &Report, report: &Report, queue: &QueueName) -> bool {
    former.plan.queues.get(queue) == report.plan.queues.get(queue)
        && former.plan.stalled.get(queue) == report.plan.stalled.get(queue)
        && former.refused.get(queue) == report.refused.get(queue)
        && former.contested.get(queue) == report.contested.get(queue)
        && former.blocked.get(queue) == report.blocked.get(queue)
}

/// Whether the plan is about this life of the Queue and about its spec as it is, and the Queue is to stay.
fn concerns(plan: &Plan, queue: &QueueName, observed: &ObservedQueue) -> bool {
    let life = (&observed.uid, observed.generation.unwrap_or_default());
    plan.life(queue) == Some(life) && !observed.deleting
}
