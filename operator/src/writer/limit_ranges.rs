//! What is remembered of LimitRanges that were written, and what became of writes.

use std::collections::BTreeMap;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::{QueueName, QueueUid};
use quotient_engine::plan::Plan;
use tokio::time::Instant;
use tracing::warn;

use super::restores::Restores;
use crate::alarm::Alarm;
use crate::context::Context;
use crate::events::Notice;
use crate::executor::{Completed, Operation, Outcome, Purpose};
use crate::settings::WriteSettings;

/// Paces the restoring of LimitRanges. Nothing that keeps the cluster safe depends on them.
#[derive(Debug)]
pub(super) struct LimitRanges {
    restores: Restores,
    /// What was written last, and for which Queue; nothing where it was deleted.
    written: BTreeMap<QueueName, (QueueUid, Bounds)>,
}

impl LimitRanges {
    pub(super) const fn new(settings: WriteSettings) -> Self {
        Self { restores: Restores::new(settings.repair_interval), written: BTreeMap::new() }
    }

    /// What of `wanted` this cycle writes.
    pub(super) fn due(&mut self, wanted: Vec<Operation>, plan: &Plan, alarm: &mut Alarm) -> Vec<Operation> {
        let now = Instant::now();
        self.written.retain(|queue, (uid, _)| plan.uid(queue) == Some(uid));
        self.restores.begin(now);
        let mut due = wanted;
        due.retain(|operation| {
            let until = self.waits_until(&operation.purpose, now);
            alarm.set(until);
            until.is_none()
        });
        due
    }

    fn waits_until(&mut self, purpose: &Purpose, now: Instant) -> Option<Instant> {
        let Purpose::LimitRange { queue, uid, defaults, lacks_owner } = purpose else { return None };
        // A new Queue takes over at once what another one had.
        let lost_owner = *lacks_owner && self.written.contains_key(queue);
        let orphaned = self.restores.orphaned_until(queue, lost_owner, now);
        let rests =
            || self.restores.rests_until(queue, now).filter(|_| self.was_written(queue, uid, defaults));
        orphaned.or_else(rests)
    }

    /// Whether this was written last. If it is to be written again, another writer has changed it.
    fn was_written(&self, queue: &QueueName, uid: &QueueUid, defaults: &Bounds) -> bool {
        self.written.get(queue).is_some_and(|written| (&written.0, &written.1) == (uid, defaults))
    }

    /// Takes note of what became of a LimitRange.
    pub(super) fn settle(&mut self, completed: &Completed, context: &Context) {
        let Completed { purpose, outcome, why, is_newly_refused } = completed;
        let Purpose::LimitRange { queue, uid, defaults, .. } = purpose else { return };
        if matches!(outcome, Outcome::Done) {
            if self.was_written(queue, uid, defaults) {
                warn!(namespace = %queue.namespace, "another writer had changed the LimitRange");
                self.restores.restored(queue, Instant::now());
            }
            self.written.insert(queue.clone(), (uid.clone(), defaults.clone()));
            context.recorder.record(Notice::default_requests_written(queue.clone(), defaults));
        } else if *is_newly_refused {
            context.recorder.record(Notice::default_requests_refused(queue.clone(), why));
        }
    }
}
