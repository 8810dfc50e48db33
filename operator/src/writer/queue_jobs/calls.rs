//! One call for a QueueJob, and what its answer tells the view.

use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions,
    PropagationPolicy,
};
use quotient_crds::QueueJob;
use quotient_crds::names::FIELD_MANAGER;
use quotient_engine::plan::QueueJobName;
use quotient_index::queue_jobs::{job_body, job_name, task_hash};
use quotient_index::{Decoded, Keeps};
use serde_json::{Value, json};

use super::actions::Action;
use crate::answer::{Answer, ask, ask_object, ask_optional, said};
use crate::rights::Feature;
use crate::writer::Tools;

/// How long one call may take.
const CALL: Duration = Duration::from_secs(5);

/// What metrics call a write of a Job.
const JOB: &str = "job";

/// What metrics call the deletion of a QueueJob.
const QUEUE_JOB: &str = "queuejob";

/// What became of one call.
#[derive(Debug)]
pub(super) enum Done {
    /// It was carried out, or there is nothing left to do it to.
    Written,
    /// It was not tried: this replica may not write any more, or the QueueJob is another one by now.
    Skipped,
    /// It was not carried out.
    Refused(String),
    /// Nobody knows.
    Unknown(String),
}

/// Carries `action` out.
pub(super) async fn carry_out(tools: &Tools, name: &QueueJobName, action: &Action) -> Done {
    if !tools.may_write() {
        return Done::Skipped;
    }
    match action {
        Action::Create { task, template, parallelism } => {
            create(tools, name, task, template, *parallelism).await
        }
        Action::Change { task, uid, suspend, parallelism, completions, .. } => {
            let mut spec = json!({"suspend": suspend, "parallelism": parallelism});
            if let (Some(completions), Value::Object(fields)) = (completions, &mut spec) {
                fields.insert("completions".to_owned(), (*completions).into());
            }
            change(tools, name, task, uid, spec).await
        }
        Action::Replace { task, uid } => delete(tools, name, task, uid).await,
        Action::Expire => expire(tools, name).await,
    }
}

async fn create(
    tools: &Tools,
    name: &QueueJobName,
    task: &str,
    template: &str,
    parallelism: Option<u32>,
) -> Done {
    let owners: Api<Decoded<QueueJob>> = Api::namespaced(tools.client.clone(), name.namespace.as_str());
    // The index keeps no templates: they are large, and needed once.
    let owner = match ask_optional(CALL, owners.get_opt(&name.name)).await {
        Answer::Done(Some(owner)) if owner.metadata.deletion_timestamp.is_none() => owner,
        Answer::Done(_) => return Done::Skipped,
        Answer::Refused(status) => return Done::Refused(Feature::CreateJobs.refused(&status)),
        Answer::Unknown(lost) => return Done::Unknown(lost.to_string()),
    };
    let Some(task) = owner.spec.tasks.iter().find(|known| known.name == task) else { return Done::Skipped };
    if *task_hash(&owner.spec, task) != *template {
        // It was edited since: the watch tells, and the next cycle decides.
        return Done::Skipped;
    }
    let body = job_body(&owner, task, parallelism);
    let body: DynamicObject = match serde_json::from_value(body) {
        Ok(body) => body,
        Err(error) => return Done::Refused(format!("build the Job: {error}")),
    };
    // Not the typed form: it would drop the fields of a newer Kubernetes.
    let resource = ApiResource::erase::<Job>(&());
    let jobs: Api<DynamicObject> =
        Api::namespaced_with(tools.client.clone(), name.namespace.as_str(), &resource);
    let parameters = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
    let answer = ask(CALL, jobs.create(&parameters, &body)).await;
    tools.metrics.wrote(JOB, answer.result());
    let uid = owner.metadata.uid.as_deref().unwrap_or_default();
    match answer {
        Answer::Done(job) => {
            let job = serde_json::to_value(&job).and_then(serde_json::from_value::<Job>);
            if let Ok(job) = job {
                tools.view.update(|index| Keeps::<Job>::apply(index, &job));
            }
            Done::Written
        }
        Answer::Refused(status) if status.code == 409 => {
            adopt(tools, name, &job_name(&name.name, &task.name), uid).await
        }
        Answer::Refused(status) => Done::Refused(Feature::CreateJobs.refused(&status)),
        Answer::Unknown(lost) => Done::Unknown(lost.to_string()),
    }
}

/// A Job of this name is there: one of ours, of which the answer was lost, or somebody else's.
async fn adopt(tools: &Tools, name: &QueueJobName, job: &str, uid: &str) -> Done {
    let jobs: Api<Decoded<Job>> = Api::namespaced(tools.client.clone(), name.namespace.as_str());
    match ask_optional(CALL, jobs.get_opt(job)).await {
        Answer::Done(Some(found)) => {
            let mut owners = found.metadata.owner_references.iter().flatten();
            if owners.any(|owner| owner.controller == Some(true) && owner.uid == uid) {
                tools.view.update(|index| Keeps::<Job>::apply(index, &found));
                Done::Written
            } else if found.metadata.deletion_timestamp.is_some() {
                Done::Unknown(format!("the Job {job} of an earlier QueueJob is still being deleted"))
            } else {
                Done::Refused(format!(
                    "a Job {job} is there already and is not of this QueueJob: delete it, or give the QueueJob another name"
                ))
            }
        }
        Answer::Done(None) => Done::Unknown(format!("the Job {job} was there and is not any more")),
        Answer::Refused(status) => Done::Refused(said(&status)),
        Answer::Unknown(lost) => Done::Unknown(lost.to_string()),
    }
}

async fn change(tools: &Tools, name: &QueueJobName, task: &str, uid: &str, spec: Value) -> Done {
    let jobs: Api<Decoded<Job>> = Api::namespaced(tools.client.clone(), name.namespace.as_str());
    let job = job_name(&name.name, task);
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let body = Patch::Merge(json!({"metadata": {"uid": uid}, "spec": spec}));
    let answer = ask_object(CALL, jobs.patch(&job, &parameters, &body)).await;
    tools.metrics.wrote(JOB, answer.result());
    match answer {
        Answer::Done(job) => {
            tools.view.update(|index| Keeps::<Job>::apply(index, &job));
            Done::Written
        }
        Answer::Refused(status) if status.code == 404 => {
            tools.view.update(|index| Keeps::<Job>::delete(index, name.namespace.as_str(), &job, uid));
            Done::Written
        }
        Answer::Refused(status) => Done::Refused(said(&status)),
        Answer::Unknown(lost) => Done::Unknown(lost.to_string()),
    }
}

/// The Job goes with its pods; as long as it is there its successor cannot be created.
async fn delete(tools: &Tools, name: &QueueJobName, task: &str, uid: &str) -> Done {
    let jobs: Api<Decoded<Job>> = Api::namespaced(tools.client.clone(), name.namespace.as_str());
    let parameters = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Foreground),
        preconditions: Some(Preconditions { uid: Some(uid.to_owned()), resource_version: None }),
        ..DeleteParams::default()
    };
    let answer = ask(CALL, jobs.delete(&job_name(&name.name, task), &parameters)).await;
    tools.metrics.wrote(JOB, answer.result());
    deleted(answer)
}

async fn expire(tools: &Tools, name: &QueueJobName) -> Done {
    let api: Api<Decoded<QueueJob>> = Api::namespaced(tools.client.clone(), name.namespace.as_str());
    let uid = tools.view.read(|index| index.observed_queue_job(&name.namespace, &name.name));
    let Some(uid) = uid.map(|observed| observed.uid.as_str().to_owned()) else { return Done::Skipped };
    let parameters = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Background),
        preconditions: Some(Preconditions { uid: Some(uid), resource_version: None }),
        ..DeleteParams::default()
    };
    let answer = ask(CALL, api.delete(&name.name, &parameters)).await;
    tools.metrics.wrote(QUEUE_JOB, answer.result());
    deleted(answer)
}

/// What is gone already, or has a successor, needs no deletion.
fn deleted<T>(answer: Answer<T>) -> Done {
    match answer {
        Answer::Done(_) => Done::Written,
        Answer::Refused(status) if matches!(status.code, 404 | 409) => Done::Written,
        Answer::Refused(status) => Done::Refused(Feature::CreateJobs.refused(&status)),
        Answer::Unknown(lost) => Done::Unknown(lost.to_string()),
    }
}
