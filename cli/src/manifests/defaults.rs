//! What manifests leave out, completed as the API server, its admission and the kubelet would.
//!
//! The same input is always completed in the same way: there are no random ids and no clock. The uid of an
//! object that has none is its namespace and name, which the index takes care of; what ties pods and their owners
//! together is completed beforehand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, Pod, PodSpec, ResourceQuota, ResourceQuotaStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use quotient_crds::names::{MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUOTA};
use quotient_index::Index;

use crate::objects::Object;

/// Completes `object`, seen at `now`.
pub(super) fn complete(object: &mut Object, now: &Time) {
    // What is not in the cluster yet would be created now: after everything that is.
    object.metadata_mut().creation_timestamp.get_or_insert_with(|| now.clone());
    match object {
        Object::Pod(pod) => complete_pod(Arc::make_mut(pod)),
        Object::ResourceQuota(quota) => complete_quota(Arc::make_mut(quota)),
        Object::Namespace(namespace) => complete_namespace(Arc::make_mut(namespace)),
        Object::Deployment(owner) => one(Arc::make_mut(owner).spec.as_mut().map(|spec| &mut spec.replicas)),
        Object::ReplicaSet(owner) => one(Arc::make_mut(owner).spec.as_mut().map(|spec| &mut spec.replicas)),
        Object::StatefulSet(owner) => one(Arc::make_mut(owner).spec.as_mut().map(|spec| &mut spec.replicas)),
        Object::Job(job) => complete_job(Arc::make_mut(job)),
        _ => {}
    }
}

/// A workload without a number of replicas has one pod.
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
    Object::Namespace(Arc::new(Namespace { metadata, ..Namespace::default() }))
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

/// Kind, namespace and name of an owner.
type Named = (String, String, String);

/// Gives every owner of pods a uid, and everything that names its controller by kind and name alone that uid.
pub(super) fn identify(objects: &mut [Object]) {
    let mut known: BTreeMap<Named, String> = BTreeMap::new();
    for object in &*objects {
        if let Some(owner) = object.controller().filter(|owner| !owner.uid.is_empty()) {
            known.entry(of_reference(object, owner)).or_insert_with(|| owner.uid.clone());
        }
    }
    for object in objects.iter_mut().filter(|object| object.kind().owns_pods()) {
        let named =
            (object.kind().name().to_owned(), object.namespace().to_owned(), object.name().to_owned());
        let metadata = object.metadata_mut();
        if metadata.uid.as_deref().is_none_or(str::is_empty) {
            metadata.uid = Some(known.get(&named).cloned().unwrap_or_else(|| stand_in(&named)));
        }
        known.insert(named, metadata.uid.clone().unwrap_or_default());
    }
    for object in objects {
        let Some(owner) = object.controller().filter(|owner| owner.uid.is_empty()) else { continue };
        let named = of_reference(object, owner);
        let uid = known.get(&named).cloned().unwrap_or_else(|| stand_in(&named));
        let owners = object.metadata_mut().owner_references.iter_mut().flatten();
        for owner in owners.filter(|owner| owner.controller == Some(true) && owner.uid.is_empty()) {
            owner.uid.clone_from(&uid);
        }
    }
}

/// An owner is in the namespace of what it owns.
fn of_reference(object: &Object, owner: &OwnerReference) -> Named {
    (owner.kind.clone(), object.namespace().to_owned(), owner.name.clone())
}

/// A uid that no real cluster has, the same whenever the same manifests are read.
fn stand_in((kind, namespace, name): &Named) -> String {
    format!("{namespace}/{kind}/{name}")
}

/// The classes that every API server has by itself.
const BUILT_IN: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

/// Gives pods the priority that admission would have given them. The classes are in `index` already; owners'
/// templates are resolved there.
pub(super) fn prioritize(objects: &mut [Object], index: &Index) {
    for object in objects {
        if let Object::Pod(pod) = object
            && pod.spec.as_ref().is_some_and(|spec| spec.priority.is_none())
            && let Some(spec) = &mut Arc::make_mut(pod).spec
        {
            spec.priority = Some(index.priority_of(spec));
        }
    }
}

/// The classes that pods or templates name and that no manifest describes: admission would refuse such pods.
pub(super) fn unknown_classes(objects: &[Object]) -> BTreeSet<&str> {
    let described = objects.iter().filter(|object| matches!(object, Object::PriorityClass(_)));
    let described = described.filter_map(|class| class.metadata().name.as_deref());
    let known: BTreeSet<&str> = described.chain(BUILT_IN).collect();
    let named = objects.iter().filter_map(|object| match object {
        Object::Pod(pod) => class(pod.spec.as_ref()?),
        _ => class(object.template()?.spec.as_ref()?),
    });
    named.filter(|name| !known.contains(name)).collect()
}

/// The class that has to be known for the priority to be known.
fn class(spec: &PodSpec) -> Option<&str> {
    let class = spec.priority_class_name.as_deref().filter(|class| !class.is_empty());
    class.filter(|_| spec.priority.is_none())
}
