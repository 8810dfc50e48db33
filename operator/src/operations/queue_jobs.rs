//! Jobs of QueueJobs.
//!
//! A Job is created, gets another number of pods that may run, or is deleted because its template was edited. A QueueJob that
//! is finished is deleted in time. Nothing is remembered, so another leader goes on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::api::PropagationPolicy;
use quotient_crds::QueueJob;
use quotient_engine::names::Namespace;
use quotient_engine::plan::{Plan, QueueJobName, QueueJobPhase, QueueJobPlan, SlotReason};
use quotient_index::Index;
use quotient_index::queue_jobs::{
    ObservedQueueJob, ObservedTask, ObservedTaskJob, job_body, job_name, task_hash,
};
use serde_json::json;

use super::Observed;
use crate::executor::{Kind, Life, Object, Operation, Outcome, Prepared, Purpose, Request, decode};

/// How many operations on QueueJobs one cycle carries out: less than a second of work for the API server. A tenant may submit
/// 100,000 QueueJobs, and the next plan of all other queues waits for the end of the cycle.
pub(crate) const MOST_PER_CYCLE: usize = 200;

/// What is to be done for every QueueJob of `plan`, in the order in which namespaces take turns.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let mut all = Vec::new();
    for (name, decided) in in_turns(&plan.queue_jobs).filter(|(_, decided)| !decided.withheld) {
        let Some(seen) = seen(observed.index, name, decided) else { continue };
        all.extend(of(name, decided, &seen, observed.now));
    }
    all
}

/// How long until a QueueJob of `plan` is deleted because it has been finished for long enough, if one is.
pub(crate) fn next_expiry(plan: &Plan, index: &Index, now: Timestamp) -> Option<Duration> {
    let finished = plan.queue_jobs.iter().filter(|(_, decided)| !decided.withheld && is_finished(decided));
    let left = finished.filter_map(|(name, decided)| time_left(&seen(index, name, decided)?, now));
    left.filter(|left| !left.is_zero()).min()
}

/// The QueueJobs of a plan in the order in which namespaces take turns: the first of every namespace, then the second of each,
/// and so on.
pub(crate) fn in_turns(
    all: &BTreeMap<QueueJobName, QueueJobPlan>,
) -> impl Iterator<Item = (&QueueJobName, &QueueJobPlan)> {
    let mut turn: (Option<&Namespace>, usize) = (None, 0);
    let with_turns = all.iter().map(|(name, decided)| {
        let next = if turn.0 == Some(&name.namespace) { turn.1.saturating_add(1) } else { 0 };
        turn = (Some(&name.namespace), next);
        (next, name, decided)
    });
    let mut with_turns: Vec<_> = with_turns.collect();
    with_turns.sort_by_key(|(turn, ..)| *turn);
    with_turns.into_iter().map(|(_, name, decided)| (name, decided))
}

/// What is seen of a QueueJob that is still the one that was decided on, and is to stay. Of one that was edited since, the next
/// plan decides: its tasks may be others.
pub(crate) fn seen(index: &Index, name: &QueueJobName, decided: &QueueJobPlan) -> Option<ObservedQueueJob> {
    let seen = index.observed_queue_job(&name.namespace, &name.name);
    seen.filter(|seen| {
        seen.uid == decided.uid && seen.generation.unwrap_or_default() == decided.generation && !seen.deleting
    })
}

/// What is to be done for one QueueJob now.
fn of(
    name: &QueueJobName,
    decided: &QueueJobPlan,
    observed: &ObservedQueueJob,
    now: Timestamp,
) -> Vec<Operation> {
    let finished = is_finished(decided);
    if finished && time_left(observed, now) == Some(Duration::ZERO) {
        return vec![expiry(name, observed)];
    }
    if decided.reason == SlotReason::InvalidSpec {
        return Vec::new();
    }
    let tasks = observed.tasks.iter().zip(&decided.parallelism);
    let all = tasks.filter_map(|(task, parallelism)| match &task.job {
        // Without a Queue nothing says what may run, and the admission policies of the chart would refuse the Job. What
        // is larger than its share runs in no order: a tenant who submits 100,000 of those costs the API server no Job.
        None if finished || matches!(decided.reason, SlotReason::NoQueue | SlotReason::GangAboveShare) => {
            None
        }
        None => Some(creation(name, task, (!decided.suspend).then_some(*parallelism))),
        Some(job) if job.deleting || job.end.is_some() => None,
        // The Job goes with its pods; as long as it is there its successor cannot be created.
        Some(job) if job.template != task.template && !finished => {
            let deletion = Request::Delete(Some(PropagationPolicy::Foreground));
            Some(on_job(name, task, true, Some(&job.uid), deletion))
        }
        Some(job) => change(name, task, job, decided.suspend, *parallelism),
    });
    all.collect()
}

/// One on the Job of a task, in this life of it; none if there is no Job yet.
fn on_job(
    name: &QueueJobName,
    task: &ObservedTask,
    frees: bool,
    uid: Option<&Arc<str>>,
    request: Request,
) -> Operation {
    Operation {
        purpose: Purpose::Job { name: name.clone(), frees },
        object: Object::new(Kind::Job, &name.namespace, job_name(&name.name, &task.name)),
        life: uid.map(|uid| Life::of(uid)),
        request,
    }
}

fn owner(name: &QueueJobName) -> Object {
    Object::new(Kind::QueueJob, &name.namespace, Arc::clone(&name.name))
}

/// Deletes the QueueJob: it has been finished for long enough.
fn expiry(name: &QueueJobName, seen: &ObservedQueueJob) -> Operation {
    Operation {
        purpose: Purpose::Expiry(name.clone()),
        object: owner(name),
        life: Some(Life::of(seen.uid.as_str())),
        request: Request::Delete(Some(PropagationPolicy::Background)),
    }
}

/// Creates the Job of a task, of whose pods so many may run at once; none suspends it.
fn creation(name: &QueueJobName, task: &ObservedTask, parallelism: Option<u32>) -> Operation {
    let (of, template) = (Arc::clone(&task.name), Arc::clone(&task.template));
    // The index keeps no templates: they are large, and needed once.
    let prepare = move |found: &str| create(found, &of, &template, parallelism);
    on_job(name, task, false, None, Request::Read(owner(name), Box::new(prepare)))
}

/// The Job of `task` of the QueueJob as it is now, if it is still what was decided on.
fn create(found: &str, task: &str, template: &str, parallelism: Option<u32>) -> Prepared {
    let owner: QueueJob = decode(found).map_err(Outcome::unreadable)?;
    let stale = |what: &str| Outcome::Stale(format!("the QueueJob {what}"));
    if owner.metadata.deletion_timestamp.is_some() {
        return Err(stale("is being deleted"));
    }
    let task = owner.spec.tasks.iter().find(|known| known.name == task);
    let task =
        task.filter(|task| *task_hash(&owner.spec, task) == *template).ok_or_else(|| stale("was edited"))?;
    let life = Life::of(owner.metadata.uid.as_deref().unwrap_or_default());
    Ok((life, Request::Create(job_body(&owner, task, parallelism))))
}

/// Whether it has ended, so that it is deleted in time.
const fn is_finished(decided: &QueueJobPlan) -> bool {
    matches!(decided.phase, QueueJobPhase::Complete | QueueJobPhase::Failed)
}

/// How long it is still kept, if it is not kept for good. Known once its status says since when it has been finished.
fn time_left(observed: &ObservedQueueJob, now: Timestamp) -> Option<Duration> {
    let until = observed.ended?.plus_seconds(observed.ttl_seconds_after_finished?.into());
    let left = until.millis().saturating_sub(now.as_millisecond());
    Some(Duration::from_millis(u64::try_from(left).unwrap_or_default()))
}

/// Has the Job of a task run as many pods as was decided and have as many succeed as the spec says; none if it does.
fn change(
    name: &QueueJobName,
    task: &ObservedTask,
    job: &ObservedTaskJob,
    suspend: bool,
    parallelism: u32,
) -> Option<Operation> {
    let resized = (job.completions != task.replicas).then_some(task.replicas);
    let same = job.suspended == suspend && (suspend || job.parallelism == parallelism);
    if same && resized.is_none() {
        return None;
    }
    let before = if job.suspended { 0 } else { job.parallelism };
    let after = if suspend { 0 } else { parallelism };
    let frees = resized.is_none() && after <= before;
    let spec = match resized {
        // The API server takes another number only together with the same parallelism.
        Some(replicas) => json!({"suspend": suspend, "parallelism": replicas, "completions": replicas}),
        None => json!({"suspend": suspend, "parallelism": parallelism}),
    };
    Some(on_job(name, task, frees, Some(&job.uid), Request::Merge(json!({"spec": spec}))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn observed(job: Option<ObservedTaskJob>) -> ObservedQueueJob {
        let task = ObservedTask { name: "w".into(), replicas: 4, template: template(), job };
        ObservedQueueJob {
            uid: "q".into(),
            resource_version: None,
            generation: Some(1),
            deleting: false,
            ttl_seconds_after_finished: Some(60),
            status: None,
            ended: None,
            tasks: vec![task],
        }
    }

    fn job() -> ObservedTaskJob {
        ObservedTaskJob {
            uid: "j".into(),
            parallelism: 2,
            completions: 4,
            template: template(),
            ..ObservedTaskJob::default()
        }
    }

    fn plan(phase: QueueJobPhase, parallelism: u32) -> QueueJobPlan {
        let suspend = parallelism == 0;
        QueueJobPlan { phase, parallelism: vec![parallelism], suspend, ..QueueJobPlan::default() }
    }

    fn due(plan: &QueueJobPlan, job: Option<ObservedTaskJob>) -> String {
        printed(plan, &observed(job), Timestamp::UNIX_EPOCH)
    }

    /// The parts of the spec of each Job that is created or changed, and what is deleted.
    fn printed(plan: &QueueJobPlan, observed: &ObservedQueueJob, now: Timestamp) -> String {
        let name = QueueJobName { namespace: "a".into(), name: "q".into() };
        let request = |operation: Operation| match operation.request {
            Request::Read(_, prepare) => ("create", prepare(&stored().to_string()).unwrap().1),
            request => ("change", request),
        };
        let all = of(&name, plan, observed, now).into_iter().map(|operation| {
            let kind = operation.object.kind;
            match request(operation) {
                (verb, Request::Create(body) | Request::Merge(body)) => {
                    let part = |field: &str| body["spec"].get(field).map_or("-".to_owned(), Value::to_string);
                    let [suspend, parallelism, completions] =
                        ["suspend", "parallelism", "completions"].map(part);
                    let state = if suspend == "true" { "suspended" } else { "running" };
                    format!("{verb} {state} {parallelism} of {completions}")
                }
                (_, Request::Delete(_)) => format!("delete {kind:?}"),
                _ => panic!("another request"),
            }
        });
        all.collect::<Vec<_>>().join(", ")
    }

    /// The QueueJob as it is read for its Job.
    fn stored() -> Value {
        let task = json!({"name": "w", "replicas": 4, "template": {"spec": {"containers": []}}});
        json!({"metadata": {"name": "q", "namespace": "a", "uid": "q"}, "spec": {"tasks": [task]}})
    }

    /// What its template is known by.
    fn template() -> Arc<str> {
        let owner: QueueJob = serde_json::from_value(stored()).unwrap();
        task_hash(&owner.spec, &owner.spec.tasks[0])
    }

    #[test]
    fn a_job_is_made_what_was_decided() {
        use QueueJobPhase::{Complete, Running, Starting, Waiting};
        let waits_for = |reason| QueueJobPlan { reason, ..plan(Waiting, 0) };
        let (no_queue, too_large) = (SlotReason::NoQueue, SlotReason::GangAboveShare);
        let suspended = || ObservedTaskJob { suspended: true, ..job() };
        let end = Some(quotient_index::queue_jobs::JobEnd::Complete);
        for (plan, job, expected) in [
            (plan(Waiting, 0), None, "create suspended 0 of 4"),
            (plan(Starting, 3), None, "create running 3 of 4"),
            (plan(Complete, 0), None, ""),
            (waits_for(no_queue), None, ""),
            (waits_for(too_large), None, ""),
            (waits_for(too_large), Some(job()), "change suspended 0 of -"),
            // What is right is left alone, and so is what has ended or is being deleted.
            (plan(Running, 2), Some(job()), ""),
            (plan(Waiting, 0), Some(suspended()), ""),
            (plan(Running, 3), Some(ObservedTaskJob { end, ..job() }), ""),
            (plan(Running, 3), Some(ObservedTaskJob { deleting: true, ..job() }), ""),
            // Slots move by parallelism alone.
            (plan(Running, 3), Some(job()), "change running 3 of -"),
            (plan(Waiting, 0), Some(job()), "change suspended 0 of -"),
            (plan(Starting, 2), Some(suspended()), "change running 2 of -"),
            // Edits are followed.
            (plan(Running, 2), Some(ObservedTaskJob { completions: 3, ..job() }), "change running 4 of 4"),
            (plan(Running, 2), Some(ObservedTaskJob { template: "u".into(), ..job() }), "delete Job"),
        ] {
            assert_eq!(due(&plan, job.clone()), expected, "{plan:?} {job:?}");
        }
    }

    #[test]
    fn what_is_finished_is_deleted_in_time() {
        let mut finished = observed(Some(job()));
        finished.ended = Some(quotient_engine::time::Timestamp::from_seconds(1_000));
        let decided = plan(QueueJobPhase::Complete, 0);
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(time_left(&finished, at(1_010)), Some(Duration::from_secs(50)));
        let expired = "delete QueueJob";
        assert_ne!(printed(&decided, &finished, at(1_010)), expired);
        assert_eq!(printed(&decided, &finished, at(1_060)), expired);
        finished.ttl_seconds_after_finished = None;
        assert_eq!(time_left(&finished, at(9_999)), None);
        assert_ne!(printed(&decided, &finished, at(9_999)), expired);
    }
}
