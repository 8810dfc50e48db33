//! Writing quotas: those that lower something first.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{PatchParams, PostParams};
use quotient_crds::names::{FIELD_MANAGER, QUOTA};
use quotient_engine::amounts::Bounds;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, QueuePlan, QuotaWrite};
use quotient_index::quotas::ObservedQuota;
use quotient_index::{Index, Keeps};
use tokio::time::Instant;
use tracing::{info, warn};

use super::retry::Retries;
use super::{Tools, quota_body};
use crate::announce::Happening;
use crate::answer::{Answer, ask, said};
use crate::settings::WriteSettings;

/// How long one write or read of a quota may take.
const CALL: Duration = Duration::from_secs(5);

/// What metrics call a write of a quota.
const KIND: &str = "resourcequota";

/// Writes quotas.
pub(super) struct QuotaWriter {
    tools: Tools,
    parallel: usize,
    retries: Retries<QueueName>,
    /// Written and not seen enforced: since when, and which amounts.
    settling: BTreeMap<QueueName, (Instant, Bounds)>,
}

/// What became of one write.
#[derive(Debug)]
enum Outcome {
    /// The quota has these amounts now.
    Written,
    /// It was not tried: this replica may not write any more.
    Skipped,
    /// It was not carried out.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

impl QuotaWriter {
    pub(super) const fn new(tools: Tools, settings: WriteSettings) -> Self {
        Self {
            tools,
            parallel: settings.quotas_in_parallel,
            retries: Retries::new(),
            settling: BTreeMap::new(),
        }
    }

    pub(super) fn refused(&self) -> BTreeMap<QueueName, String> {
        self.retries.refused().map(|(queue, why)| (queue.clone(), why.to_owned())).collect()
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.retries.next()
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
                    let hard = index.observed_quota(&name.namespace)?.hard.clone();
                    Some((name.clone(), QuotaWrite { hard, lowers: false, goes_with_queue: false }))
                })
                .collect()
        })
    }

    async fn write_group(&mut self, group: &[(&QueueName, &QuotaWrite)]) {
        let now = Instant::now();
        let due: Vec<_> =
            group.iter().filter(|(queue, _)| !self.retries.is_waiting(queue, now)).copied().collect();
        let Self { tools, parallel, retries, settling } = self;
        let tools = &*tools;
        let writes: Vec<_> = due
            .into_iter()
            .map(|(queue, write)| async move { (queue, write, write_one(tools, queue, write).await) })
            .collect();
        let mut outcomes = stream::iter(writes).buffer_unordered(*parallel);
        while let Some((queue, write, outcome)) = outcomes.next().await {
            tools.beat.now();
            match outcome {
                Outcome::Written => {
                    retries.clear(queue);
                    settling.insert(queue.clone(), (Instant::now(), write.hard.clone()));
                }
                Outcome::Skipped => {}
                Outcome::Refused(why) => {
                    warn!(%queue, error = why, "the quota was not written");
                    retries.failed(queue, why, true, Instant::now());
                }
                Outcome::Unknown(why) => {
                    warn!(%queue, error = why, "whether the quota was written is not known");
                    retries.failed(queue, why, false, Instant::now());
                }
            }
        }
    }
}

async fn write_one(tools: &Tools, queue: &QueueName, write: &QuotaWrite) -> Outcome {
    if !tools.may_write() {
        return Outcome::Skipped;
    }
    let api: Api<ResourceQuota> = Api::namespaced(tools.client.clone(), queue.namespace.as_str());
    let observed = tools.view.read(|index| index.observed_quota(&queue.namespace).cloned());
    let answer = match send(&api, queue, observed.as_deref(), &write.hard).await {
        Ok(answer) => answer,
        Err(error) => return Outcome::Refused(format!("build the quota: {error}")),
    };
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(quota) => {
            info!(%queue, quota = %listed(&write.hard), "wrote the quota");
            tools.view.update(|index| Keeps::<ResourceQuota>::apply(index, &quota));
            let before = observed.map(|observed| observed.hard.clone());
            tools.announcer.announce(Happening::QuotaWritten {
                queue: queue.clone(),
                before,
                after: write.hard.clone(),
                lowers: write.lowers,
            });
            Outcome::Written
        }
        Answer::Refused(status) => {
            // Something is not as it was seen: look, and let the next cycle decide.
            if matches!(status.code, 404 | 409 | 422) {
                reread(tools, &api, queue, observed.as_deref()).await;
            }
            Outcome::Refused(said(&status))
        }
        Answer::Unknown(lost) => {
            tools
                .view
                .update(|index| index.quota_written(&queue.namespace, &write.hard, observed.as_deref()));
            Outcome::Unknown(lost.to_string())
        }
    }
}

async fn send(
    api: &Api<ResourceQuota>,
    queue: &QueueName,
    observed: Option<&ObservedQuota>,
    hard: &Bounds,
) -> Result<Answer<ResourceQuota>, serde_json::Error> {
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patch = match observed {
        None => {
            let parameters =
                PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let quota = quota_body::create(queue, hard)?;
            return Ok(ask(CALL, api.create(&parameters, &quota)).await);
        }
        Some(ObservedQuota { uid, generation: Some(generation), .. }) => {
            quota_body::update(queue, uid, *generation, hard)?
        }
        // Not written by us: what has to be added depends on what is there.
        Some(_) => match ask(CALL, api.get(QUOTA)).await {
            Answer::Done(found) => quota_body::take_over(queue, &found, hard)?,
            other => return Ok(other),
        },
    };
    Ok(ask(CALL, api.patch(QUOTA, &parameters, &patch)).await)
}

/// Brings what is known of the quota up to date.
async fn reread(
    tools: &Tools,
    api: &Api<ResourceQuota>,
    queue: &QueueName,
    observed: Option<&ObservedQuota>,
) {
    match ask(CALL, api.get_opt(QUOTA)).await {
        Answer::Done(Some(quota)) => tools.view.update(|index| Keeps::<ResourceQuota>::apply(index, &quota)),
        Answer::Done(None) => {
            let Some(observed) = observed else { return };
            tools.view.update(|index: &mut Index| {
                let namespace = queue.namespace.as_str();
                Keeps::<ResourceQuota>::delete(index, namespace, QUOTA, observed.uid.as_str())
            });
        }
        Answer::Refused(status) => warn!(%queue, error = said(&status), "cannot read the quota"),
        Answer::Unknown(lost) => warn!(%queue, error = %lost, "cannot read the quota"),
    }
}

/// `cpu 2, memory 6Gi`.
fn listed(hard: &Bounds) -> String {
    hard.iter()
        .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
        .collect::<Vec<_>>()
        .join(", ")
}
