//! Writing quotas: those that lower something first.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream};
use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan, QuotaWrite};
use tokio::time::Instant;
use tracing::{info, warn};

use super::Tools;
use super::quota_body::Content;
use super::quota_call::{self, Outcome, listed};
use super::retry::Retries;
use crate::announce::Happening;
use crate::settings::WriteSettings;

/// Writes quotas.
pub(super) struct QuotaWriter {
    tools: Tools,
    parallel: usize,
    retries: Retries<QueueName>,
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
            settling: BTreeMap::new(),
            risen: BTreeSet::new(),
        }
    }

    pub(super) fn refused(&self) -> BTreeMap<QueueName, String> {
        self.retries.refused().map(|(queue, why)| (queue.clone(), why.to_owned())).collect()
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.retries.next()
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
                metrics.quota_in_force.observe(since.elapsed().as_secs_f64());
            }
            !enforced
        });
    }

    /// Writes every quota that `plan` changes, and anew those with a write of unknown outcome: the next
    /// generation is what stops a late one.
    pub(super) async fn write(&mut self, plan: &Plan) {
        let unsure = self.unsure(plan);
        self.retries.retain(|queue| {
            unsure.contains_key(queue)
                || plan.queues.get(queue).is_some_and(|plan| plan.quota_write.is_some())
        });
        let (lowering, raising): (Vec<_>, Vec<_>) = plan.quota_writes().partition(|(_, write)| write.lowers);
        for group in [lowering, raising, unsure.iter().collect()] {
            self.write_group(&group).await;
        }
    }

    /// Quotas that stand as they should although a write of them may still land.
    fn unsure(&self, plan: &Plan) -> BTreeMap<QueueName, QuotaWrite> {
        let stands = |queue: &QueuePlan| !queue.is_parent && queue.quota_write.is_none();
        let standing = plan.queues.iter().filter(|(_, queue)| stands(queue));
        let names: Vec<&QueueName> = standing.map(|(name, _)| name).collect();
        self.tools.view.read(|index| {
            names
                .into_iter()
                .filter(|name| index.quota_is_unconfirmed(&name.namespace))
                .filter_map(|name| {
                    let observed = index.observed_quota(&name.namespace)?;
                    let (hard, goes_with_queue) = (observed.hard.clone(), observed.goes_with_queue);
                    Some((name.clone(), QuotaWrite { hard, lowers: false, goes_with_queue }))
                })
                .collect()
        })
    }

    async fn write_group(&mut self, group: &[(&QueueName, &QuotaWrite)]) {
        let now = Instant::now();
        let due: Vec<_> =
            group.iter().filter(|(queue, _)| !self.retries.is_waiting(queue, now)).copied().collect();
        let Self { tools, parallel, retries, settling, risen } = self;
        let tools = &*tools;
        let writes: Vec<_> = due
            .into_iter()
            .map(|(queue, write)| async move { (queue, write, write_one(tools, queue, write).await) })
            .collect();
        let mut outcomes = stream::iter(writes).buffer_unordered(*parallel);
        while let Some((queue, write, outcome)) = outcomes.next().await {
            tools.beat.now();
            match outcome {
                Outcome::Done { before } => {
                    info!(%queue, quota = %listed(&write.hard), "wrote the quota");
                    retries.clear(queue);
                    settling.insert(queue.clone(), (Instant::now(), write.hard.clone()));
                    if rises(before.as_ref(), &write.hard) {
                        risen.insert(queue.namespace.clone());
                    }
                    // The same amounts written anew are no news.
                    if before.as_ref() != Some(&write.hard) {
                        tools.announcer.announce(Happening::QuotaWritten {
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
                    risen.insert(queue.namespace.clone());
                }
            }
        }
    }
}

async fn write_one(tools: &Tools, queue: &QueueName, write: &QuotaWrite) -> Outcome {
    let content = Content { queue: Some(queue), hard: &write.hard, goes_with_queue: write.goes_with_queue };
    quota_call::write(tools, &queue.namespace, &content).await
}

/// Whether pods that were refused before may be let in now. A quota that is new refuses all until it is enforced.
fn rises(before: Option<&Bounds>, after: &Bounds) -> bool {
    let Some(before) = before else { return true };
    after.iter().any(|(resource, amount)| before.get(resource).is_some_and(|before| before < amount))
        || before.iter().any(|(resource, _)| after.get(resource).is_none())
}
