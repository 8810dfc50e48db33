//! Writing quotas: those that lower something first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::{StreamExt, stream};
use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QuotaWrite};
use quotient_index::quotas::ObservedQuota;
use tokio::time::Instant;
use tracing::{info, warn};

use super::Tools;
use super::drift::{Change, Drift};
use super::quota_call::{self, Outcome, listed};
use super::retry::Retries;
use crate::events::Notice;
use crate::settings::WriteSettings;

/// Writes quotas.
pub(super) struct QuotaWriter {
    tools: Tools,
    parallel: usize,
    retries: Retries<QueueName>,
    drift: Drift,
    /// Written and not seen enforced: since when, and which amounts.
    settling: BTreeMap<QueueName, (Instant, Bounds)>,
    /// The namespaces whose quota allows more since they were last taken out, or may.
    risen: BTreeSet<Namespace>,
}

impl QuotaWriter {
    pub(super) const fn new(tools: Tools, settings: WriteSettings) -> Self {
        Self {
            tools,
            parallel: settings.quotas_in_parallel,
            retries: Retries::new(),
            drift: Drift::new(settings.repair_interval),
            settling: BTreeMap::new(),
            risen: BTreeSet::new(),
        }
    }

    pub(super) fn refused(&self) -> BTreeMap<QueueName, String> {
        self.retries.refused().map(|(queue, why)| (queue.clone(), why.to_owned())).collect()
    }

    /// Quotas that others change faster than they are put right, in words.
    pub(super) fn contested(&self) -> BTreeMap<QueueName, String> {
        self.drift.contested().map(|(queue, message)| (queue.clone(), message)).collect()
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.retries.next().into_iter().chain(self.drift.next()).min()
    }

    /// The namespaces whose quota was made to allow more since this was asked last, or may have been.
    pub(super) fn take_risen(&mut self) -> BTreeSet<Namespace> {
        std::mem::take(&mut self.risen)
    }

    /// Measures how long amounts took to be enforced, of those that are by now.
    pub(super) fn note_enforced(&mut self) {
        let Tools { view, metrics, .. } = &self.tools;
        self.settling.retain(|queue, (since, hard)| {
            let observed = view.read(|index| index.observed_quota(&queue.namespace).cloned());
            let Some(observed) = observed.filter(|observed| observed.hard == *hard) else { return false };
            let enforced = observed.enforced == *hard;
            if enforced {
                metrics.writes.quota_in_force.observe(since.elapsed().as_secs_f64());
            }
            !enforced
        });
    }

    /// Writes every quota that `plan` changes or that does not bear the stamp of what was granted.
    pub(super) async fn write(&mut self, plan: &Plan) {
        let wanted: BTreeMap<&QueueName, &QuotaWrite> = plan.quota_writes().collect();
        self.retries.retain(|queue| wanted.contains_key(queue));
        self.drift.begin(Instant::now(), |queue| plan.uid(queue));
        let (lowering, raising): (Vec<_>, Vec<_>) = plan.quota_writes().partition(|(_, write)| write.lowers);
        for group in [lowering, raising] {
            self.write_group(&group).await;
        }
    }

    async fn write_group(&mut self, group: &[(&QueueName, &QuotaWrite)]) {
        let now = Instant::now();
        let Self { tools, parallel, retries, drift, settling, risen } = self;
        let tools = &*tools;
        let mut writes = Vec::new();
        for (queue, write) in group.iter().filter(|(queue, _)| !retries.is_waiting(queue, now)).copied() {
            let change = drift.change(queue, observed(tools, queue).as_deref());
            if change.as_ref().is_some_and(|change| drift.has_to_wait(queue, change, now)) {
                continue;
            }
            writes.push(async move { (queue, write, change, quota_call::write(tools, queue, write).await) });
        }
        let mut outcomes = stream::iter(writes).buffer_unordered(*parallel);
        while let Some((queue, write, change, outcome)) = outcomes.next().await {
            tools.beat.now();
            match outcome {
                Outcome::Done { before } => {
                    info!(%queue, quota = %listed(&write.hard), "wrote the quota");
                    retries.clear(queue);
                    drift.wrote(queue, observed(tools, queue).as_deref(), change.is_some(), Instant::now());
                    settling.insert(queue.clone(), (Instant::now(), write.hard.clone()));
                    if rises(before.as_ref(), &write.hard) {
                        risen.insert(queue.namespace.clone());
                    }
                    if let Some(change) = change {
                        tell_repair(tools, queue, change, before, &write.hard);
                    } else if before.as_ref() != Some(&write.hard) {
                        // The same amounts written anew are no news.
                        tools.announcer.announce(Notice::QuotaWritten {
                            queue: queue.clone(),
                            before,
                            after: write.hard.clone(),
                            lowers: write.lowers,
                        });
                    }
                }
                Outcome::Skipped => {}
                Outcome::Refused(why) => {
                    warn!(%queue, error = why, "the quota was not written");
                    retries.failed(queue, why, true, Instant::now());
                }
                Outcome::Unknown(why) => {
                    warn!(%queue, error = why, "whether the quota was written is not known");
                    retries.failed(queue, why, false, Instant::now());
                    drift.lost_sight(queue);
                    risen.insert(queue.namespace.clone());
                }
            }
        }
    }
}

fn observed(tools: &Tools, queue: &QueueName) -> Option<Arc<ObservedQuota>> {
    tools.view.read(|index| index.observed_quota(&queue.namespace).cloned())
}

/// Says that a quota was put right which somebody had changed: `before` is what it allowed then.
fn tell_repair(tools: &Tools, queue: &QueueName, change: Change, before: Option<Bounds>, after: &Bounds) {
    warn!(%queue, %change, "another writer changed the quota; it is restored");
    tools.metrics.writes.quota_repairs.with_label_values(&[change.name()]).inc();
    tools.announcer.announce(Notice::QuotaRepaired {
        queue: queue.clone(),
        change,
        before,
        after: after.clone(),
    });
}

/// Whether pods that were refused before may be let in now. A quota that is new refuses all until it is enforced.
fn rises(before: Option<&Bounds>, after: &Bounds) -> bool {
    let Some(before) = before else { return true };
    after.iter().any(|(resource, amount)| before.get(resource).is_some_and(|before| before < amount))
        || before.iter().any(|(resource, _)| after.get(resource).is_none())
}
