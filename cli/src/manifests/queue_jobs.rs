//! QueueJobs: the Jobs that the operator would have created for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::objects::{Object, decoded};
use k8s_openapi::api::batch::v1::Job;
use quotient_crds::{QueueJob, Task};
use quotient_index::queue_jobs::{job_body, job_name};

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
