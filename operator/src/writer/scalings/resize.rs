//! Writing a size, and beside it what it was before.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use quotient_crds::names::{FIELD_MANAGER, REPLICAS_BEFORE_ANNOTATION, REPLICAS_LOWERED_ANNOTATION};
use quotient_engine::plan::Scaling;
use quotient_engine::snapshot::SetterKind;
use quotient_index::sizes::Said;
use quotient_index::{Decoded, Index, Keeps};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{CALL, Outcome};
use crate::answer::{Answer, ask_object, ask_optional, said};
use crate::rights::Feature;
use crate::writer::Tools;

/// What metrics call a write of a size.
const KIND: &str = "scale";

/// An object whose spec says how many pods are wanted.
trait Resizable:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug
{
    /// The field of its spec that says it.
    const FIELD: &'static str = "replicas";

    /// What stands there. The API server fills in what is left out, so nothing means nothing is known.
    fn size(&self) -> Option<i32>;
}

impl Resizable for Deployment {
    fn size(&self) -> Option<i32> {
        self.spec.as_ref()?.replicas
    }
}

impl Resizable for ReplicaSet {
    fn size(&self) -> Option<i32> {
        self.spec.as_ref()?.replicas
    }
}

impl Resizable for StatefulSet {
    fn size(&self) -> Option<i32> {
        self.spec.as_ref()?.replicas
    }
}

impl Resizable for Job {
    const FIELD: &'static str = "parallelism";

    fn size(&self) -> Option<i32> {
        self.spec.as_ref()?.parallelism
    }
}

/// Writes the size that `scaling` says, if the object is still what was decided on.
pub(super) async fn resize(tools: &Tools, scaling: &Scaling) -> Outcome {
    match scaling.setter.kind {
        SetterKind::Deployment => resize_one::<Deployment>(tools, scaling).await,
        SetterKind::ReplicaSet => resize_one::<ReplicaSet>(tools, scaling).await,
        SetterKind::StatefulSet => resize_one::<StatefulSet>(tools, scaling).await,
        SetterKind::Job => resize_one::<Job>(tools, scaling).await,
    }
}

async fn resize_one<K: Resizable>(tools: &Tools, scaling: &Scaling) -> Outcome
where
    Index: Keeps<K>,
{
    if !tools.may_write() {
        return Outcome::Skipped;
    }
    let api: Api<Decoded<K>> = Api::namespaced(tools.client.clone(), scaling.namespace.as_str());
    let found = match ask_optional(CALL, api.get_opt(&scaling.setter.name)).await {
        Answer::Done(Some(found)) => found,
        Answer::Done(None) => return Outcome::Stale("it is gone".to_owned()),
        Answer::Refused(status) => return Outcome::Refused(Feature::ScaleWorkloads.refused(&status)),
        Answer::Unknown(lost) => return Outcome::Unknown(lost.to_string()),
    };
    if let Some(why) = difference(&found, scaling) {
        return Outcome::Stale(why);
    }
    if !tools.may_write() {
        return Outcome::Skipped;
    }
    let body = Patch::Merge(body(&found, scaling));
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let answer = ask_object(CALL, api.patch(&scaling.setter.name, &parameters, &body)).await;
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(written) => {
            // The next plan is made with it, whether or not the watch has told by then.
            tools.view.update(|index| {
                index.holds_setter(&scaling.namespace, &scaling.setter) && Keeps::<K>::apply(index, &written)
            });
            Outcome::Written
        }
        Answer::Refused(status) if matches!(status.code, 404 | 409) => Outcome::Stale(said(&status)),
        Answer::Refused(status) => Outcome::Refused(Feature::ScaleWorkloads.refused(&status)),
        Answer::Unknown(lost) => Outcome::Unknown(lost.to_string()),
    }
}

/// What about `found` is not as it was when `scaling` was decided on.
fn difference<K: Resizable>(found: &K, scaling: &Scaling) -> Option<String> {
    if found.uid().as_deref() != Some(scaling.setter.uid.as_str()) {
        return Some("it is another one of the same name".to_owned());
    }
    if found.meta().deletion_timestamp.is_some() {
        return Some("it is being deleted".to_owned());
    }
    let size = found.size().and_then(|size| u32::try_from(size).ok());
    let Some(size) = size.filter(|size| *size == scaling.from) else {
        return Some(format!("its size is {size:?} and not {} any more", scaling.from));
    };
    let said = Said::of(found.meta(), size);
    if let Some(reason) = said.left_alone {
        return Some(format!("it is to be left alone: {reason}"));
    }
    let expected = former_before(scaling);
    (said.former != expected).then(|| format!("its former size is {:?} and not {expected:?}", said.former))
}

/// The former size that stood on the object when `scaling` was decided on.
fn former_before(scaling: &Scaling) -> Option<u32> {
    if scaling.lowers() {
        scaling.former.filter(|former| *former != scaling.from)
    } else {
        Some(scaling.former.unwrap_or(scaling.to))
    }
}

/// The patch: the size and what is remembered beside it, for this version of the object and no other.
fn body<K: Resizable>(found: &K, scaling: &Scaling) -> Value {
    let former = scaling.former.map(|former| former.to_string());
    let written = former.is_some().then(|| scaling.to.to_string());
    json!({
        "metadata": {
            "uid": scaling.setter.uid.as_str(),
            "resourceVersion": found.resource_version(),
            "annotations": {REPLICAS_BEFORE_ANNOTATION: former, REPLICAS_LOWERED_ANNOTATION: written},
        },
        "spec": {K::FIELD: scaling.to},
    })
}
