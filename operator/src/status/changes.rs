//! Which statuses are to be written now, and which later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use quotient_crds::QueueStatus;
use quotient_engine::names::{QueueName, QueueUid};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_index::queues::ObservedQueue;
use tokio::time::Instant;

use super::pace::{Due, Pace};
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
    /// How often what only informs is written for one Queue.
    interval: Duration,
    known: BTreeMap<QueueName, Known>,
    /// The plan that was looked at last.
    former: Option<Arc<Plan>>,
}

/// What is remembered of one Queue.
#[derive(Default)]
struct Known {
    pace: Pace,
    /// Since when its quota is not what the plan wants, or not enforced.
    unsettled: Option<Instant>,
    /// What was written last, and to which life of the Queue.
    sent: Option<(QueueUid, QueueStatus)>,
    /// If its status says what it should, what that follows from beside the plan.
    quiet: Option<(Arc<ObservedQueue>, Circumstances)>,
}

impl StatusChanges {
    pub(super) const fn new(context: Context, interval: Duration) -> Self {
        Self { context, interval, known: BTreeMap::new(), former: None }
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
        let former = self.former.replace(Arc::clone(&report.plan));
        // Where nothing changed for all, only Queues with a change of their own are looked at.
        let comparable = former.filter(|former| overview.concerns_all_as(&Overview::of(former)));
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
            let known = self.known.entry(queue.clone()).or_default();
            let circumstances = Circumstances {
                quota: known.quota_state(report, queue, now, &mut later),
                blocked: report.blocked.get(queue).cloned(),
                reclaims: self.context.reclaims.of(&observed.uid),
                skipped,
            };
            let is_same = |(seen, former): &(Arc<ObservedQueue>, Circumstances)| {
                Arc::ptr_eq(seen, &observed) && *former == circumstances
            };
            if known.quiet.as_ref().is_some_and(is_same)
                && comparable.as_ref().is_some_and(|former| same(former, &report.plan, queue))
            {
                continue;
            }
            known.quiet = None;
            let stored = observed.status.as_ref();
            let wanted = compose(&overview, queue, observed.generation, stored, &circumstances, time);
            let Some(wanted) = wanted else { continue };
            self.context.metrics.queues.show_conditions(queue, &wanted.conditions);
            match known.due((queue, &observed), &wanted, self.interval, executor, now) {
                None => known.quiet = Some((observed, circumstances)),
                Some(Due { at, .. }) if at > now => later.push(at),
                Some(Due { informs: true, .. }) if informing == AT_ONCE => {
                    later.extend(now.checked_add(PAUSE));
                }
                Some(Due { informs, .. }) => {
                    informing = informing.saturating_add(usize::from(informs));
                    match write(queue, &observed, wanted) {
                        Some(operation) => due.push(operation),
                        // It says the same in other words.
                        None => executor.retries.clear(&status_key(queue)),
                    }
                }
            }
        }
        (due, later.into_iter().min())
    }

    /// The status of `queue` was written.
    pub(super) fn wrote(&mut self, queue: QueueName, uid: QueueUid, status: QueueStatus, now: Instant) {
        let known = self.known.entry(queue).or_default();
        known.pace.wrote(now);
        known.sent = Some((uid, status));
    }

    fn forget_absent(&mut self, plan: &Plan, executor: &mut Executor) {
        let exists = |queue: &QueueName| plan.life(queue).is_some();
        executor.wants(Class::Status, |key| exists(&key.queue()));
        self.known.retain(|queue, _| exists(queue));
        let uids = plan.queues.values().map(|queue| &queue.uid);
        let uids: BTreeSet<&QueueUid> = uids.chain(plan.stalled.values().map(|stall| &stall.uid)).collect();
        self.context.reclaims.retain(|queue| uids.contains(queue));
    }
}

impl Known {
    fn due(
        &mut self,
        (queue, observed): (&QueueName, &ObservedQueue),
        wanted: &QueueStatus,
        interval: Duration,
        executor: &mut Executor,
        now: Instant,
    ) -> Option<Due> {
        let Some(due) = self.pace.due(queue, observed.status.as_ref(), wanted, interval, now) else {
            executor.retries.clear(&status_key(queue));
            return None;
        };
        let is_stubborn =
            |(uid, sent): &(QueueUid, QueueStatus)| *uid == observed.uid && sent.same_meaning(wanted);
        let stubborn = self.pace.written.filter(|_| self.sent.as_ref().is_some_and(is_stubborn));
        let stubborn = stubborn.and_then(|at| at.checked_add(STATUS_RESEND_INTERVAL));
        let retry = executor.retries.until(&status_key(queue));
        let at = [stubborn, retry].into_iter().flatten().fold(due.at, Instant::max);
        Some(Due { at, ..due })
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
            self.unsettled = None;
            return QuotaState::InForce;
        }
        if let Some(why) = report.refused.get(queue) {
            return QuotaState::Refused(why.clone());
        }
        if let Some(what) = report.contested.get(queue) {
            return QuotaState::Contested(what.clone());
        }
        let since = *self.unsettled.get_or_insert(now);
        match since.checked_add(NORMAL) {
            Some(due) if due > now => {
                later.push(due);
                QuotaState::Settling
            }
            _ => QuotaState::Waiting,
        }
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

/// Whether both plans say the same of `queue`.
fn same(former: &Plan, plan: &Plan, queue: &QueueName) -> bool {
    former.queues.get(queue) == plan.queues.get(queue) && former.stalled.get(queue) == plan.stalled.get(queue)
}

/// Whether the plan is about this life of the Queue and about its spec as it is, and the Queue is to stay.
fn concerns(plan: &Plan, queue: &QueueName, observed: &ObservedQueue) -> bool {
    let life = (&observed.uid, observed.generation.unwrap_or_default());
    plan.life(queue) == Some(life) && !observed.deleting
}
