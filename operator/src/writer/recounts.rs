//! Having admission's count of a quota made anew.
//!
//! kube-controller-manager counts the pods of a namespace when `spec.hard` of its quota changes. So it gets one key more,
//! which bounds what does not exist, and loses it again: no amount changes, whichever of the two writes lands, and when.
//! Between them it does not bear what was granted; if the second is lost, the next plan writes it.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::PatchParams;
use quotient_crds::names::{FIELD_MANAGER, QUOTA};
use quotient_engine::names::Namespace;
use quotient_index::quotas::ObservedQuota;
use quotient_index::{Decoded, Keeps};
use tracing::{debug, info};

use super::Tools;
use super::quota_body::mark;
use crate::answer::{Answer, ask_object, said};

/// How long one write may take.
const CALL: Duration = Duration::from_secs(5);

/// How many quotas are counted at the same time.
const PARALLEL: usize = 8;

/// What metrics call it.
const KIND: &str = "recount";

/// Has the quotas of `namespaces` counted anew. Returns when every call was answered or timed out.
pub(super) async fn send(tools: &Tools, namespaces: BTreeSet<Namespace>) {
    let calls: Vec<_> = namespaces.into_iter().map(|namespace| send_one(tools, namespace)).collect();
    let mut calls = stream::iter(calls).buffer_unordered(PARALLEL);
    while calls.next().await.is_some() {
        tools.beat.now();
    }
}

async fn send_one(tools: &Tools, namespace: Namespace) {
    let Some(observed) = tools.view.read(|index| index.observed_quota(&namespace).cloned()) else { return };
    for marked in [true, false] {
        if let Err(why) = write(tools, &namespace, &observed, marked).await {
            debug!(%namespace, why, "the quota is not counted anew");
            return;
        }
    }
    info!(%namespace, "had the quota counted anew: it charged pods that do not exist");
}

async fn write(
    tools: &Tools,
    namespace: &Namespace,
    observed: &ObservedQuota,
    marked: bool,
) -> Result<(), String> {
    let Some(standing) = observed.generation.filter(|_| tools.may_write()) else {
        return Err("it is not ours to write".to_owned());
    };
    let patch = mark(&observed.uid, standing, marked).map_err(|error| error.to_string())?;
    let api: Api<Decoded<ResourceQuota>> = Api::namespaced(tools.client.clone(), namespace.as_str());
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let answer = ask_object(CALL, api.patch(QUOTA, &parameters, &patch)).await;
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(quota) => {
            tools.view.update(|index| Keeps::<ResourceQuota>::apply(index, &quota));
            Ok(())
        }
        Answer::Refused(status) => Err(said(&status)),
        Answer::Unknown(lost) => Err(lost.to_string()),
    }
}
