//! What is remembered of quotas that were written, and what became of writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QuotaWrite};
use quotient_index::quotas::ObservedQuota;
use tokio::time::Instant;
use tracing::warn;

use super::drift::Drift;
use crate::alarm::Alarm;
use crate::context::Context;
use crate::events::Notice;
use crate::executor::{Completed, Operation, Outcome, Purpose};
use crate::settings::WriteSettings;

/// Paces the restoring of quotas, and tells what was written.
#[derive(Debug)]
pub(super) struct Quotas {
    pub(super) drift: Drift,
    /// Written and not seen enforced: since when, and which amounts.
    settling: BTreeMap<QueueName, (Instant, Bounds)>,
    /// The namespaces whose quota allows more since they were last taken out, or may.
    risen: BTreeSet<Namespace>,
}

impl Quotas {
    pub(super) const fn new(settings: WriteSettings) -> Self {
        Self {
            drift: Drift::new(settings.repair_interval),
            settling: BTreeMap::new(),
            risen: BTreeSet::new(),
        }
    }

    /// The namespaces whose quota was made to allow more since this was asked last, or may have been.
    pub(super) fn take_risen(&mut self) -> BTreeSet<Namespace> {
        std::mem::take(&mut self.risen)
    }

    /// Measures how long amounts took to be enforced, of those that are by now.
    pub(super) fn note_enforced(&mut self, context: &Context) {
        self.settling.retain(|queue, (since, hard)| {
            let Some(observed) = observed(context, queue).filter(|observed| observed.hard == *hard) else {
                return false;
            };
            let enforced = observed.enforced == *hard;
            if enforced {
                context.metrics.writes.quota_in_force.observe(since.elapsed().as_secs_f64());
            }
            !enforced
        });
    }

    /// What of `wanted` this cycle writes: not what another writer has just changed again.
    pub(super) fn due(
        &mut self,
        wanted: Vec<Operation>,
        plan: &Plan,
        alarm: &mut Alarm,
        context: &Context,
    ) -> Vec<Operation> {
        let now = Instant::now();
        self.drift.begin(now, |queue| plan.uid(queue));
        let mut due = wanted;
        due.retain(|operation| {
            let Purpose::Quota { queue, .. } = &operation.purpose else { return true };
            let observed = observed(context, queue);
            let until = self.drift.waits_until(queue, observed.as_deref(), now);
            alarm.set(until);
            until.is_none()
        });
        due
    }

    /// Takes note of what became of a quota.
    pub(super) fn settle(&mut self, Completed { purpose, outcome, .. }: &Completed, context: &Context) {
        let Purpose::Quota { queue, write, before } = purpose else { return };
        match outcome {
            Outcome::Done => self.written(queue, write, before.as_ref(), context),
            Outcome::Skipped | Outcome::Refused(_) | Outcome::Stale(_) => {}
            // The ledger says what may land late.
            Outcome::Unknown(_) => {
                self.drift.lost_sight(queue);
                self.risen.insert(queue.namespace.clone());
            }
        }
    }

    fn written(&mut self, queue: &QueueName, write: &QuotaWrite, before: Option<&Bounds>, context: &Context) {
        let change = self.drift.wrote(queue, observed(context, queue).as_deref(), Instant::now());
        self.settling.insert(queue.clone(), (Instant::now(), write.hard.clone()));
        if rises(before, &write.hard) {
            self.risen.insert(queue.namespace.clone());
        }
        let (queue, after) = (queue.clone(), &write.hard);
        if let Some(change) = change {
            warn!(%queue, %change, "another writer changed the quota; it is restored");
            context.metrics.writes.quota_repairs.with_label_values(&[change.name()]).inc();
            context.recorder.record(Notice::quota_repaired(queue, &change, before, after));
        } else if before != Some(after) {
            // The same amounts written anew are no news.
            context.recorder.quota_written(queue, before.cloned(), after.clone(), write.lowers);
        }
    }
}

fn observed(context: &Context, queue: &QueueName) -> Option<Arc<ObservedQuota>> {
    context.view.read(|index| index.observed_quota(&queue.namespace).cloned())
}

/// Whether pods that were refused before may be let in now. A quota that is new refuses all until it is enforced.
fn rises(before: Option<&Bounds>, after: &Bounds) -> bool {
    let Some(before) = before else { return true };
    after.iter().any(|(resource, amount)| before.get(resource).is_some_and(|before| before < amount))
        || before.iter().any(|(resource, _)| after.get(resource).is_none())
}
