//! What manifests leave out, completed as the API server and the kubelet would.
//!
//! The same input is always completed in the same way: there are no random ids and no clock. The uid of an
//! object that has none is its namespace and name, which the index takes care of; what ties pods and their owners
//! together is completed beforehand.

use std::sync::Arc;

use crate::objects::Object;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, Pod, ResourceQuota, ResourceQuotaStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use quotient_crds::names::{MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUOTA};

/// Completes `object`, seen at `now`.
pub(super) fn complete(object: &mut Object, now: &Time) {
    // What is not in the cluster yet would be created now: after everything that is.
    object.metadata_mut().creation_timestamp.get_or_insert_with(|| now.clone());
    match object {
        Object::Pod(pod) => complete_pod(Arc::make_mut(pod)),
        Object::ResourceQuota(quota) => complete_quota(quota),
        Object::Namespace(namespace) => complete_namespace(namespace),
        Object::Deployment(owner) => one(owner.spec.as_mut().map(|spec| &mut spec.replicas)),
        Object::ReplicaSet(owner) => one(owner.spec.as_mut().map(|spec| &mut spec.replicas)),
        Object::StatefulSet(owner) => one(owner.spec.as_mut().map(|spec| &mut spec.replicas)),
        Object::Job(job) => complete_job(job),
        _ => {}
    }
}

/// Who says nothing wants one pod.
fn one(count: Option<&mut Option<i32>>) {
    if let Some(count) = count {
        count.get_or_insert(1);
    }
}

/// A Job that says nothing is one pod that has to succeed; one with parallelism alone is a work queue.
fn complete_job(job: &mut Job) {
    let Some(spec) = &mut job.spec else { return };
    if spec.parallelism.is_none() {
        spec.completions.get_or_insert(1);
        spec.parallelism = Some(1);
    }
}

/// The label by which every namespace can be selected: the API server sees to it that it is there.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

fn complete_namespace(namespace: &mut Namespace) {
    let name = namespace.metadata.name.clone().unwrap_or_default();
    namespace.metadata.labels.get_or_insert_default().insert(NAME_LABEL.to_owned(), name);
}

/// The namespace that objects are in though no manifest describes it.
pub(super) fn namespace(name: &str) -> Object {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Object::Namespace(Box::new(Namespace { metadata, ..Namespace::default() }))
}

/// A pod that is bound runs, unless its phase says otherwise. A pod that runs started when it was created, unless its
/// status says otherwise.
fn complete_pod(pod: &mut Pod) {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
    let bound = node.is_some_and(|node| !node.is_empty());
    let status = pod.status.get_or_insert_default();
    let phase = status.phase.get_or_insert_with(|| if bound { "Running" } else { "Pending" }.to_owned());
    if phase == "Running" && status.start_time.is_none() {
        status.start_time.clone_from(&pod.metadata.creation_timestamp);
    }
}

/// A quota without status is enforced, because a manifest describes a cluster at rest. The quota `quotient` is kept by
/// Quotient, unless its label names another program.
fn complete_quota(quota: &mut ResourceQuota) {
    if quota.metadata.name.as_deref() == Some(QUOTA) {
        let labels = quota.metadata.labels.get_or_insert_default();
        labels.entry(MANAGED_BY_LABEL.to_owned()).or_insert_with(|| MANAGED_BY_QUOTIENT.to_owned());
    }
    let enforced = quota.status.as_ref().is_some_and(|status| status.hard.is_some());
    if !enforced {
        let hard = quota.spec.as_ref().and_then(|spec| spec.hard.clone());
        quota.status = Some(ResourceQuotaStatus { hard, ..quota.status.take().unwrap_or_default() });
    }
}
