//! What is wrong with an object.

use quotient_crds::QueueJob;
use quotient_index::{UnreadableQuantity, nodes, pod_requests, queues, quotas};

use crate::objects::{Bound, Object};

/// The object's amounts and numbers that make no sense.
pub(super) fn mistakes(object: &Object) -> Vec<String> {
    match object {
        Object::Node(node) => texts(&nodes::unreadable(node)),
        Object::Pod(pod) => texts(&pod_requests::unreadable(pod)),
        Object::Queue(queue) => queues::decode(queue).invalid.iter().map(ToString::to_string).collect(),
        Object::QueueJob(job) => mistakes_of_tasks(job),
        Object::ResourceQuota(quota) => texts(&quotas::unreadable(quota)),
        Object::PodDisruptionBudget(budget) => Bound::of(budget).err().into_iter().collect(),
        other => mistakes_of_owner(other),
    }
}

/// What cannot be read in the templates. Numbers of pods that contradict each other are for the API server to refuse.
fn mistakes_of_tasks(job: &QueueJob) -> Vec<String> {
    let tasks = job.spec.tasks.iter().enumerate().flat_map(|(at, task)| {
        let mistakes = match task.template.read() {
            Ok(template) => texts(&pod_requests::unreadable_in_template(&template)),
            Err(error) => vec![error.to_string()],
        };
        mistakes.into_iter().map(move |mistake| format!("spec.tasks[{at}].template: {mistake}"))
    });
    tasks.collect()
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
