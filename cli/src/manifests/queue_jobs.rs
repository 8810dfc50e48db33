//! QueueJobs: what is wrong with one, and the Jobs that the operator would have created for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::objects::{Object, decoded};
use k8s_openapi::api::batch::v1::Job;
use quotient_crds::{MAX_QUEUE_JOB_NAME_LENGTH, MAX_REPLICAS, MAX_TASKS, QueueJob, Task};
use quotient_index::pod_requests;
use quotient_index::queue_jobs::{job_body, job_name};

/// What the API server would refuse, and amounts that make no sense.
pub(super) fn mistakes(job: &QueueJob) -> Vec<String> {
    let name = job.metadata.name.as_deref().unwrap_or_default();
    let mut mistakes = Vec::new();
    let mut wrong = |is: bool, text: String| mistakes.extend(is.then_some(text));
    let spec = &job.spec;
    let is_long = u32::try_from(name.len()).is_ok_and(|length| length > MAX_QUEUE_JOB_NAME_LENGTH);
    wrong(is_long, format!("metadata.name: write at most {MAX_QUEUE_JOB_NAME_LENGTH} characters"));
    let tasks = u32::try_from(spec.tasks.len()).unwrap_or(u32::MAX);
    wrong(
        !(1..=MAX_TASKS).contains(&tasks),
        format!("spec.tasks: there are {tasks}: write 1 to {MAX_TASKS}"),
    );
    let replicas = spec.replicas();
    wrong(
        replicas > MAX_REPLICAS,
        format!("spec.tasks: all of them have {replicas} replicas: at most {MAX_REPLICAS}"),
    );
    let floors = spec.tasks.iter().map(Task::min_available).fold(0, i32::saturating_add);
    let floor = spec.floor();
    wrong(
        !(1..=replicas.max(1)).contains(&floor),
        format!("spec.minAvailable is {floor}: write 1 to {replicas}, the replicas of all tasks"),
    );
    wrong(
        floor < floors,
        format!("spec.minAvailable is {floor}: its tasks' minAvailable are {floors} together"),
    );
    let mut names = BTreeSet::new();
    for (at, task) in spec.tasks.iter().enumerate() {
        let place = format!("spec.tasks[{at}]");
        wrong(!names.insert(&task.name), format!("{place}.name: {} stands there already", task.name));
        mistakes_of_task(&place, task, &mut wrong);
    }
    mistakes
}

fn mistakes_of_task(place: &str, task: &Task, wrong: &mut impl FnMut(bool, String)) {
    let (replicas, floor) = (task.replicas(), task.min_available());
    wrong(
        !(1..=MAX_REPLICAS).contains(&replicas),
        format!("{place}.replicas is {replicas}: write 1 to {MAX_REPLICAS}"),
    );
    wrong(
        !(0..=replicas).contains(&floor),
        format!("{place}.minAvailable is {floor}: write 0 to its replicas"),
    );
    let template = match task.template.read() {
        Ok(template) => template,
        Err(error) => return wrong(true, format!("{place}.template: {error}")),
    };
    let spec = template.spec.clone().unwrap_or_default();
    let hosts = spec.volumes.iter().flatten().any(|volume| volume.host_path.is_some());
    wrong(
        spec.node_name.is_some(),
        format!("{place}.template.spec.nodeName: leave it out: the scheduler chooses the node"),
    );
    wrong(hosts, format!("{place}.template.spec.volumes: leave hostPath out"));
    for unreadable in pod_requests::unreadable_in_template(&template) {
        wrong(true, format!("{place}.template: {unreadable}"));
    }
}

/// Adds, suspended, the Job of every task that has none in the input.
pub(super) fn add_jobs(objects: &mut Vec<Object>) {
    let jobs = objects.iter().filter(|object| matches!(object, Object::Job(_)));
    let there: BTreeSet<(String, String)> =
        jobs.map(|job| (job.namespace().to_owned(), job.name().to_owned())).collect();
    let mut missing = Vec::new();
    for object in &*objects {
        let Object::QueueJob(owner) = object else { continue };
        let (namespace, name) = (object.namespace(), object.name());
        let without = |task: &&Task| !there.contains(&(namespace.to_owned(), job_name(name, &task.name)));
        missing.extend(owner.spec.tasks.iter().filter(without).filter_map(|task| job(owner, task)));
    }
    objects.extend(missing.into_iter().map(|job| Object::Job(Arc::new(job))));
}

fn job(owner: &QueueJob, task: &Task) -> Option<Job> {
    let mut job: Job = decoded(&job_body(owner, task, None))?;
    let metadata = &mut job.metadata;
    let (namespace, name) = (metadata.namespace.as_deref()?, metadata.name.as_deref()?);
    metadata.uid = Some(format!("{namespace}/Job/{name}"));
    metadata.creation_timestamp.clone_from(&owner.metadata.creation_timestamp);
    Some(job)
}
