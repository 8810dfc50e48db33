//! What is wrong with an object, and what is of no use in it.

use k8s_openapi::api::core::v1::{Node, ResourceQuota};
use quotient_crds::{Preemption, QueueSpec, names};
use quotient_index::{UnreadableQuantity, nodes, pod_requests, queues, quotas};

use super::queue_jobs;
use crate::objects::{Bound, Object};

/// The object's amounts and numbers that make no sense.
pub(super) fn mistakes(object: &Object) -> Vec<String> {
    match object {
        Object::Node(node) => texts(&nodes::unreadable(node)),
        Object::Pod(pod) => texts(&pod_requests::unreadable(pod)),
        Object::Queue(queue) => queues::decode(queue).invalid.iter().map(ToString::to_string).collect(),
        Object::QueueJob(job) => queue_jobs::mistakes(job),
        Object::ResourceQuota(quota) => texts(&quotas::unreadable(quota)),
        Object::PodDisruptionBudget(budget) => Bound::of(budget).err().into_iter().collect(),
        other => mistakes_of_owner(other),
    }
}

/// Of what creates no pods there are none.
fn mistakes_of_owner(owner: &Object) -> Vec<String> {
    let counts = match owner {
        Object::Deployment(owner) => vec![("replicas", owner.spec.as_ref().and_then(|spec| spec.replicas))],
        Object::ReplicaSet(owner) => vec![("replicas", owner.spec.as_ref().and_then(|spec| spec.replicas))],
        Object::StatefulSet(owner) => vec![("replicas", owner.spec.as_ref().and_then(|spec| spec.replicas))],
        Object::Job(owner) => vec![
            ("parallelism", owner.spec.as_ref().and_then(|spec| spec.parallelism)),
            ("completions", owner.spec.as_ref().and_then(|spec| spec.completions)),
        ],
        _ => Vec::new(),
    };
    let negative = counts.into_iter().filter_map(|(field, count)| Some((field, count.filter(|n| *n < 0)?)));
    let negative = negative.map(|(field, count)| format!("spec.{field} is {count}: write 0 or more"));
    let template = owner.template().map(pod_requests::unreadable_in_template).unwrap_or_default();
    negative.chain(texts(&template)).collect()
}

fn texts(unreadable: &[UnreadableQuantity]) -> Vec<String> {
    unreadable.iter().map(ToString::to_string).collect()
}

/// What is understood but makes no difference, though the object's author may think that it does.
pub(super) fn futility(object: &Object) -> Option<&'static str> {
    match object {
        Object::Node(node) if !has_room(node) => {
            Some("it has no room: give it status.allocatable, such as {cpu: 8, memory: 32Gi}")
        }
        Object::ResourceQuota(quota) if quota.metadata.name.as_deref() != Some(names::QUOTA) => {
            futility_of_foreign_quota(quota)
        }
        Object::Queue(queue) if queue.spec.children.is_some() => futility_of_parent(&queue.spec),
        Object::PodDisruptionBudget(budget)
            if budget.spec.as_ref().is_none_or(|spec| spec.selector.is_none()) =>
        {
            Some("it protects no pod: give it a spec.selector, {} for every pod of its namespace")
        }
        _ => None,
    }
}

/// A foreign quota bounds the share, if it bounds what is shared, and for every pod.
fn futility_of_foreign_quota(quota: &ResourceQuota) -> Option<&'static str> {
    if quotas::is_scoped(quota) {
        return Some("ignored: it has scopes, so it bounds only some of the pods");
    }
    let hard = quota
        .spec
        .as_ref()
        .and_then(|spec| spec.hard.as_ref())
        .map(quotas::bounds_from_hard)
        .unwrap_or_default();
    hard.is_empty().then_some("ignored: it bounds no requests, such as requests.cpu")
}

fn futility_of_parent(spec: &QueueSpec) -> Option<&'static str> {
    if spec.request.is_some() {
        return Some("its request is ignored: a parent queue asks for what its children ask for");
    }
    (spec.preemption != Preemption::default()).then_some(
        "its preemption is ignored: a parent queue has no pods, and its children do not inherit it",
    )
}

fn has_room(node: &Node) -> bool {
    let status = node.status.as_ref();
    status.is_some_and(|status| status.allocatable.is_some() || status.capacity.is_some())
}
