//! One write of one quota, and what its answer tells the view.

use std::time::Duration;

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{DeleteParams, PatchParams, PostParams, Preconditions};
use quotient_crds::names::{FIELD_MANAGER, QUOTA};
use quotient_engine::amounts::Bounds;
use quotient_engine::ledger::Generation;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::QuotaWrite;
use quotient_index::quotas::ObservedQuota;
use quotient_index::{Decoded, Index, Keeps};
use tracing::warn;

use super::Tools;
use super::owning_queue::OwningQueue;
use super::quota_body::{self, Content};
use crate::answer::{Answer, ask, ask_object, ask_optional, said};

/// How long one write or read of a quota may take.
const CALL: Duration = Duration::from_secs(5);

/// What metrics call a write of a quota.
const KIND: &str = "resourcequota";

/// What became of one write.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was carried out.
    Done {
        /// What the quota allowed before; none if there was none.
        before: Option<Bounds>,
    },
    /// It was not tried: this replica may not write any more, or there is nothing to write to.
    Skipped,
    /// It was not carried out.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

/// Has the quota of `queue` say what `write` does, as the ledger says.
///
pub(super) async fn write(tools: &Tools, queue: &QueueName, write: &QuotaWrite) -> Outcome {
    let namespace = &queue.namespace;
    let (observed, stamp) =
        tools.view.read(|index| (index.observed_quota(namespace).cloned(), stamp(index, namespace)));
    if !tools.may_write() || (observed.is_none() && write.owner.is_none()) {
        return Outcome::Skipped;
    }
    if write.hard.is_empty() {
        return match observed {
            Some(observed) => delete(tools, namespace, &observed).await,
            None => Outcome::Skipped,
        };
    }
    let stamp = match stamp {
        Ok(stamp) => stamp,
        Err(why) => {
            tools.view.wake();
            return Outcome::Refused(why.to_owned());
        }
    };
    let owner = write.owner.as_ref().map(|uid| OwningQueue { name: queue, uid });
    let content = &Content { queue, owner, hard: &write.hard, stamp };
    let api: Api<Decoded<ResourceQuota>> = Api::namespaced(tools.client.clone(), namespace.as_str());
    let answer = match send(&api, namespace, observed.as_deref(), content).await {
        Ok(answer) => answer,
        Err(error) => return Outcome::Refused(format!("build the quota: {error}")),
    };
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(quota) => {
            tools.view.update(|index| Keeps::<ResourceQuota>::apply(index, &quota));
            Outcome::Done { before: observed.map(|observed| observed.hard.clone()) }
        }
        Answer::Refused(status) => {
            // Something is not as it was seen: look, and let the next cycle decide.
            if matches!(status.code, 404 | 409 | 422) {
                reread(tools, &api, namespace, observed.as_deref()).await;
            }
            Outcome::Refused(said(&status))
        }
        // The ledger says what may land late.
        Answer::Unknown(lost) => Outcome::Unknown(lost.to_string()),
    }
}

/// Deletes this life of the quota and no other: in Gate mode a queue without a limit has none.
async fn delete(tools: &Tools, namespace: &Namespace, observed: &ObservedQuota) -> Outcome {
    let api: Api<Decoded<ResourceQuota>> = Api::namespaced(tools.client.clone(), namespace.as_str());
    let uid = Some(observed.uid.to_string());
    let preconditions = Some(Preconditions { uid, resource_version: None });
    let parameters = DeleteParams { preconditions, ..DeleteParams::default() };
    let answer = ask(CALL, async { api.delete(QUOTA, &parameters).await.map(|_| ()) }).await;
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(()) => {
            forget(tools, namespace, observed);
            Outcome::Done { before: Some(observed.hard.clone()) }
        }
        Answer::Refused(status) => {
            reread(tools, &api, namespace, Some(observed)).await;
            Outcome::Refused(said(&status))
        }
        Answer::Unknown(lost) => Outcome::Unknown(lost.to_string()),
    }
}

/// What a write of the quota of `namespace` is to be stamped with.
fn stamp(index: &Index, namespace: &Namespace) -> Result<Generation, &'static str> {
    let ledger = index.ledger().ok_or("the ledger is not known any more")?;
    let newer =
        index.observed_quota(namespace).is_some_and(|quota| quota.generation > Some(ledger.generation));
    if newer {
        return Err("the quota bears a stamp of a later ledger: another leader wrote it");
    }
    let entry = ledger.entries.get(namespace);
    entry.map(|entry| entry.generation).ok_or("the ledger is full: it has no place for another namespace")
}

async fn send(
    api: &Api<Decoded<ResourceQuota>>,
    namespace: &Namespace,
    observed: Option<&ObservedQuota>,
    content: &Content<'_>,
) -> Result<Answer<ResourceQuota>, serde_json::Error> {
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patch = match observed {
        None => {
            let parameters =
                PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
            let quota = quota_body::create(namespace, content)?;
            let api: Api<ResourceQuota> = Api::namespaced(api.clone().into_client(), namespace.as_str());
            return Ok(ask(CALL, api.create(&parameters, &quota)).await);
        }
        Some(ObservedQuota { uid, generation: Some(generation), owner, .. }) => {
            quota_body::update(uid, *generation, owner.as_ref(), content)?
        }
        // Not written by us: what has to be added depends on what is there.
        Some(_) => match ask_object(CALL, api.get(QUOTA)).await {
            Answer::Done(found) => quota_body::take_over(&found, content)?,
            other => return Ok(other),
        },
    };
    Ok(ask_object(CALL, api.patch(QUOTA, &parameters, &patch)).await)
}

/// Brings what is known of the quota up to date.
async fn reread(
    tools: &Tools,
    api: &Api<Decoded<ResourceQuota>>,
    namespace: &Namespace,
    observed: Option<&ObservedQuota>,
) {
    match ask_optional(CALL, api.get_opt(QUOTA)).await {
        Answer::Done(Some(quota)) => tools.view.update(|index| Keeps::<ResourceQuota>::apply(index, &quota)),
        Answer::Done(None) => {
            if let Some(observed) = observed {
                forget(tools, namespace, observed);
            }
        }
        Answer::Refused(status) => warn!(%namespace, error = said(&status), "cannot read the quota"),
        Answer::Unknown(lost) => warn!(%namespace, error = %lost, "cannot read the quota"),
    }
}

/// This life of the quota is over.
fn forget(tools: &Tools, namespace: &Namespace, observed: &ObservedQuota) {
    tools.view.update(|index: &mut Index| {
        Keeps::<ResourceQuota>::delete(index, namespace.as_str(), QUOTA, observed.uid.as_str())
    });
}

/// `cpu 2, memory 6Gi`.
pub(crate) fn listed(hard: &Bounds) -> String {
    hard.iter()
        .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
        .collect::<Vec<_>>()
        .join(", ")
}
