//! Quotas of ours in namespaces that no Queue with a share is left in: lowered to what is charged, removed, or kept as
//! granted.

use futures::{StreamExt, stream};
use quotient_engine::names::Namespace;
use quotient_engine::plan::{Orphan, Plan};
use tokio::time::Instant;
use tracing::{info, warn};

use super::Tools;
use super::quota_call::{self, Outcome, listed};
use super::retry::Retries;
use crate::announce::Happening;
use crate::settings::WriteSettings;

/// Settles what Queues have left behind.
pub(super) struct OrphanWriter {
    tools: Tools,
    parallel: usize,
    retries: Retries<Namespace>,
}

impl OrphanWriter {
    pub(super) const fn new(tools: Tools, settings: WriteSettings) -> Self {
        Self { tools, parallel: settings.quotas_in_parallel, retries: Retries::new() }
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.retries.next()
    }

    pub(super) async fn settle(&mut self, plan: &Plan) {
        self.retries.retain(|namespace| plan.orphans.contains_key(namespace));
        let now = Instant::now();
        let due: Vec<_> =
            plan.orphans.iter().filter(|(namespace, _)| !self.retries.is_waiting(namespace, now)).collect();
        let Self { tools, parallel, retries } = self;
        let tools = &*tools;
        let writes: Vec<_> = due
            .into_iter()
            .map(|(namespace, orphan)| async move {
                (namespace, orphan, settle_one(tools, plan, namespace, orphan).await)
            })
            .collect();
        let mut outcomes = stream::iter(writes).buffer_unordered(*parallel);
        while let Some((namespace, orphan, outcome)) = outcomes.next().await {
            tools.beat.now();
            match outcome {
                Outcome::Done { before } => {
                    retries.clear(namespace);
                    let happening = match orphan {
                        Orphan::Renew(hard) => {
                            info!(%namespace, quota = %listed(hard), "wrote the quota as it was granted");
                            continue;
                        }
                        Orphan::Lower(hard) => {
                            info!(%namespace, quota = %listed(hard), "lowered the quota that a Queue left behind");
                            Happening::OrphanLowered {
                                namespace: namespace.clone(),
                                before,
                                after: hard.clone(),
                            }
                        }
                        Orphan::Remove => {
                            info!(%namespace, "removed the quota that a Queue left behind");
                            Happening::OrphanRemoved { namespace: namespace.clone() }
                        }
                    };
                    tools.announcer.announce(happening);
                }
                Outcome::Skipped => {}
                Outcome::Refused(why) => {
                    warn!(%namespace, error = why, "the quota that a Queue left behind was not settled");
                    retries.failed(namespace, why, true, Instant::now());
                }
                Outcome::Unknown(why) => {
                    warn!(%namespace, error = why, "whether the quota that a Queue left behind was settled is not known");
                    retries.failed(namespace, why, false, Instant::now());
                }
            }
        }
    }
}

async fn settle_one(tools: &Tools, plan: &Plan, namespace: &Namespace, orphan: &Orphan) -> Outcome {
    let goes_with_queue = || tools.view.read(|index| index.quota_goes_with_queue(namespace));
    match orphan {
        Orphan::Remove => quota_call::remove(tools, namespace).await,
        Orphan::Lower(hard) => quota_call::write(tools, namespace, None, hard, goes_with_queue()).await,
        Orphan::Renew(hard) => {
            let without_share = plan.stalled.keys().find(|queue| queue.namespace == *namespace);
            quota_call::write(tools, namespace, without_share, hard, goes_with_queue()).await
        }
    }
}
