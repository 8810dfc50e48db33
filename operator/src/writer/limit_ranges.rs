//! What is remembered of LimitRanges that were written, and what became of writes.

use std::collections::BTreeMap;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName, QueueUid};
use quotient_engine::plan::Plan;
use tokio::time::Instant;
use tracing::warn;

use super::restores::Restores;
use crate::alarm::Alarm;
use crate::context::Context;
use crate::events::Notice;
use crate::executor::{Completed, Operation, Outcome, Purpose, Request};
use crate::settings::WriteSettings;

/// Paces the restoring of LimitRanges. Nothing that keeps the cluster safe depends on them.
#[derive(Debug)]
pub(super) struct LimitRanges {
    restores: Restores,
    /// What was written last, and for which Queue; nothing where it was deleted.
    written: BTreeMap<QueueName, (QueueUid, Bounds)>,
    /// Why it could not be written, as far as that was told.
    reported: BTreeMap<Namespace, String>,
}

impl LimitRanges {
    pub(super) const fn new(settings: WriteSettings) -> Self {
        let restores = Restores::new(settings.repair_interval);
        Self { restores, written: BTreeMap::new(), reported: BTreeMap::new() }
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
        self.restores.begin(now);
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
        let Purpose::LimitRange { queue, uid, defaults, lacks_owner } = &operation.purpose else {
            return true;
        };
        if let Request::Impossible(why) = &operation.request {
            self.report_refusal(queue, why, context);
            return false;
        }
        // A new Queue takes over at once what another one had.
        let lost_owner = *lacks_owner && self.written.contains_key(queue);
        let orphaned = self.restores.orphaned_until(queue, lost_owner, now);
        let rests =
            || self.restores.rests_until(queue, now).filter(|_| self.was_written(queue, uid, defaults));
        let until = orphaned.or_else(rests);
        alarm.set(until);
        until.is_none()
    }

    /// Whether this was written last. If it is to be written again, another writer has changed it.
    fn was_written(&self, queue: &QueueName, uid: &QueueUid, defaults: &Bounds) -> bool {
        self.written.get(queue).is_some_and(|written| (&written.0, &written.1) == (uid, defaults))
    }

    /// Takes note of what became of a LimitRange.
    pub(super) fn settle(&mut self, completed: &Completed, context: &Context) {
        let Completed { purpose, outcome, why, is_lasting } = completed;
        let Purpose::LimitRange { queue, uid, defaults, .. } = purpose else { return };
        match outcome {
            Outcome::Done => {
                self.reported.remove(&queue.namespace);
                if self.was_written(queue, uid, defaults) {
                    warn!(namespace = %queue.namespace, "another writer had changed the LimitRange");
                    self.restores.restored(queue, Instant::now());
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
