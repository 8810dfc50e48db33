//! What is remembered of LimitRanges that were written, and what became of writes.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName, QueueUid};
use quotient_engine::plan::Plan;
use tokio::time::Instant;
use tracing::warn;

use crate::alarm::Alarm;
use crate::context::Context;
use crate::events::Notice;
use crate::executor::{Completed, Operation, Outcome, Purpose, Request};
use crate::settings::WriteSettings;

/// Paces the restoring of LimitRanges.
///
/// Nothing that keeps the cluster safe depends on them, so one that others change is restored at once the first time, and then
/// only now and then.
#[derive(Debug)]
pub(super) struct LimitRanges {
    interval: Duration,
    /// What was written last, and for which Queue; nothing where it was deleted.
    written: BTreeMap<QueueName, (QueueUid, Bounds)>,
    /// When the change of another writer was undone.
    repaired: BTreeMap<Namespace, Instant>,
    /// Why it could not be written, as far as that was told.
    reported: BTreeMap<Namespace, String>,
}

impl LimitRanges {
    pub(super) const fn new(settings: WriteSettings) -> Self {
        Self {
            interval: settings.repair_interval,
            written: BTreeMap::new(),
            repaired: BTreeMap::new(),
            reported: BTreeMap::new(),
        }
    }

    /// What of `wanted` this cycle writes.
    pub(super) fn due(
        &mut self,
        wanted: Vec<Operation>,
        plan: &Plan,
        alarm: &mut Alarm,
        context: &Context,
    ) -> Vec<Operation> {
        let now = Instant::now();
        self.reported
            .retain(|namespace, _| wanted.iter().any(|wanted| wanted.object.namespace == *namespace));
        self.written.retain(|queue, (uid, _)| plan.uid(queue) == Some(uid));
        self.repaired.retain(|_, at| now.saturating_duration_since(*at) < self.interval);
        let mut due = wanted;
        due.retain(|operation| self.may_begin(operation, now, alarm, context));
        due
    }

    fn may_begin(
        &mut self,
        operation: &Operation,
        now: Instant,
        alarm: &mut Alarm,
        context: &Context,
    ) -> bool {
        let Purpose::LimitRange { queue, uid, defaults } = &operation.purpose else { return true };
        if let Request::Impossible(why) = &operation.request {
            self.report_refusal(queue, why, context);
            return false;
        }
        let due = self.repaired.get(&queue.namespace).and_then(|at| at.checked_add(self.interval));
        match due.filter(|due| now < *due && self.was_written(queue, uid, defaults)) {
            Some(due) => {
                alarm.set(due);
                false
            }
            None => true,
        }
    }

    /// Whether this was written last. If it is to be written again, another writer has changed it.
    fn was_written(&self, queue: &QueueName, uid: &QueueUid, defaults: &Bounds) -> bool {
        self.written.get(queue).is_some_and(|written| (&written.0, &written.1) == (uid, defaults))
    }

    /// Takes note of what became of a LimitRange.
    pub(super) fn settle(&mut self, completed: &Completed, context: &Context) {
        let Completed { purpose, outcome, why, is_lasting } = completed;
        let Purpose::LimitRange { queue, uid, defaults } = purpose else { return };
        let namespace = &queue.namespace;
        match outcome {
            Outcome::Done => {
                self.reported.remove(namespace);
                if self.was_written(queue, uid, defaults) {
                    warn!(%namespace, "another writer had changed the LimitRange");
                    self.repaired.insert(namespace.clone(), Instant::now());
                }
                self.written.insert(queue.clone(), (uid.clone(), defaults.clone()));
                let (queue, defaults) = (queue.clone(), defaults.clone());
                context.recorder.record(Notice::DefaultRequestsWritten { queue, defaults });
            }
            _ if *is_lasting => self.report_refusal(queue, why, context),
            _ => {}
        }
    }

    /// Tells the Queue why its default requests are not in force, once.
    fn report_refusal(&mut self, queue: &QueueName, why: &str, context: &Context) {
        if self.reported.get(&queue.namespace).is_some_and(|reported| reported == why) {
            return;
        }
        warn!(%queue, error = why, "the default requests are not enforced");
        self.reported.insert(queue.namespace.clone(), why.to_owned());
        let (queue, why) = (queue.clone(), why.to_owned());
        context.recorder.record(Notice::DefaultRequestsRefused { queue, why });
    }
}
