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
use serde_json::{Value, json};

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
        let due = actions(decided, &seen, observed.now);
        all.extend(due.into_iter().map(|action| of(name, &seen, action)));
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

fn of(name: &QueueJobName, seen: &ObservedQueueJob, action: Action) -> Operation {
    let job = |task: &str| Object::new(Kind::Job, &name.namespace, job_name(&name.name, task));
    let for_job = |frees| Purpose::Job { name: name.clone(), frees };
    let owner = Object::new(Kind::QueueJob, &name.namespace, Arc::clone(&name.name));
    let (purpose, object, life, request) = match action {
        Action::Create { task, template, parallelism } => {
            let object = job(&task);
            // The index keeps no templates: they are large, and needed once.
            let prepare = move |found: &str| create(found, &task, &template, parallelism);
            (for_job(false), object, None, Request::Read(owner, Box::new(prepare)))
        }
        Action::Change { task, uid, suspend, parallelism, completions, lowers } => {
            let mut spec = json!({"suspend": suspend, "parallelism": parallelism});
            if let (Some(completions), Value::Object(fields)) = (completions, &mut spec) {
                fields.insert("completions".to_owned(), completions.into());
            }
            let request = Request::Merge(json!({"spec": spec}));
            (for_job(lowers), job(&task), Some(Life::of(&uid)), request)
        }
        // The Job goes with its pods; as long as it is there its successor cannot be created.
        Action::Replace { task, uid } => {
            let request = Request::Delete(Some(PropagationPolicy::Foreground));
            (for_job(true), job(&task), Some(Life::of(&uid)), request)
        }
        Action::Expire => {
            let request = Request::Delete(Some(PropagationPolicy::Background));
            (Purpose::Expiry(name.clone()), owner, Some(Life::of(seen.uid.as_str())), request)
        }
    };
    Operation { purpose, object, life, request }
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

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// Create the Job of a task.
    Create {
        /// The task's name.
        task: Arc<str>,
        /// What the template is expected to be.
        template: Arc<str>,
        /// How many of its pods may run at once; none suspends it.
        parallelism: Option<u32>,
    },
    /// Change the Job of a task.
    Change {
        /// The task's name.
        task: Arc<str>,
        /// Which life of the Job.
        uid: Arc<str>,
        /// Whether it is to be suspended.
        suspend: bool,
        /// How many of its pods may run at once.
        parallelism: u32,
        /// How many pods have to succeed, if that is another number now. The API server takes one only together with the
        /// same parallelism.
        completions: Option<u32>,
        /// Whether it lowers what may run.
        lowers: bool,
    },
    /// Delete the Job of a task, whose template is another one now.
    Replace {
        /// The task's name.
        task: Arc<str>,
        /// Which life of the Job.
        uid: Arc<str>,
    },
    /// Delete the QueueJob: it has been finished for long enough.
    Expire,
}

/// What is to be done now.
fn actions(decided: &QueueJobPlan, observed: &ObservedQueueJob, now: Timestamp) -> Vec<Action> {
    let finished = is_finished(decided);
    if finished && time_left(observed, now) == Some(Duration::ZERO) {
        return vec![Action::Expire];
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
        None => Some(Action::Create {
            task: Arc::clone(&task.name),
            template: Arc::clone(&task.template),
            parallelism: (!decided.suspend).then_some(*parallelism),
        }),
        Some(job) if job.deleting || job.end.is_some() => None,
        Some(job) if job.template != task.template && !finished => {
            Some(Action::Replace { task: Arc::clone(&task.name), uid: Arc::clone(&job.uid) })
        }
        Some(job) => change(task, job, decided.suspend, *parallelism),
    });
    all.collect()
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

fn change(task: &ObservedTask, job: &ObservedTaskJob, suspend: bool, parallelism: u32) -> Option<Action> {
    let resized = (job.completions != task.replicas).then_some(task.replicas);
    let same = job.suspended == suspend && (suspend || job.parallelism == parallelism);
    if same && resized.is_none() {
        return None;
    }
    let before = if job.suspended { 0 } else { job.parallelism };
    let after = if suspend { 0 } else { parallelism };
    Some(Action::Change {
        task: Arc::clone(&task.name),
        uid: Arc::clone(&job.uid),
        suspend,
        parallelism: resized.unwrap_or(parallelism),
        completions: resized,
        lowers: resized.is_none() && after <= before,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(job: Option<ObservedTaskJob>) -> ObservedQueueJob {
        let task = ObservedTask { name: "w".into(), replicas: 4, template: "t".into(), job };
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
            template: "t".into(),
            ..ObservedTaskJob::default()
        }
    }

    fn plan(phase: QueueJobPhase, parallelism: u32) -> QueueJobPlan {
        let suspend = parallelism == 0;
        QueueJobPlan { phase, parallelism: vec![parallelism], suspend, ..QueueJobPlan::default() }
    }

    fn due(plan: &QueueJobPlan, job: Option<ObservedTaskJob>) -> String {
        let all = actions(plan, &observed(job), Timestamp::UNIX_EPOCH);
        let printed = all.iter().map(|action| match action {
            Action::Create { parallelism, .. } => format!("create {parallelism:?}"),
            Action::Change { suspend: true, .. } => "suspend".to_owned(),
            Action::Change { parallelism, completions: None, .. } => format!("run {parallelism}"),
            Action::Change { parallelism, completions, .. } => {
                format!("run {parallelism} of {completions:?}")
            }
            Action::Replace { .. } => "replace".to_owned(),
            Action::Expire => "expire".to_owned(),
        });
        printed.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_namespace_with_many_lets_the_others_in_between() {
        let name =
            |(namespace, name): (&str, &str)| QueueJobName { namespace: namespace.into(), name: name.into() };
        let all = [("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2"), ("c", "1")].map(name);
        let all = all.into_iter().map(|name| (name, QueueJobPlan::default())).collect();
        let printed: Vec<String> = in_turns(&all).map(|(name, _)| name.to_string()).collect();
        assert_eq!(printed.join(" "), "a/1 b/1 c/1 a/2 b/2 a/3");
    }

    #[test]
    fn a_job_is_made_what_was_decided() {
        use QueueJobPhase::{Complete, Running, Starting, Waiting};
        let waits_for = |reason| QueueJobPlan { reason, ..plan(Waiting, 0) };
        let (no_queue, too_large) = (SlotReason::NoQueue, SlotReason::GangAboveShare);
        let suspended = || ObservedTaskJob { suspended: true, ..job() };
        let end = Some(quotient_index::queue_jobs::JobEnd::Complete);
        for (plan, job, expected) in [
            (plan(Waiting, 0), None, "create None"),
            (plan(Starting, 3), None, "create Some(3)"),
            (plan(Complete, 0), None, ""),
            (waits_for(no_queue), None, ""),
            (waits_for(too_large), None, ""),
            (waits_for(too_large), Some(job()), "suspend"),
            // What is right is left alone, and so is what has ended or is being deleted.
            (plan(Running, 2), Some(job()), ""),
            (plan(Waiting, 0), Some(suspended()), ""),
            (plan(Running, 3), Some(ObservedTaskJob { end, ..job() }), ""),
            (plan(Running, 3), Some(ObservedTaskJob { deleting: true, ..job() }), ""),
            // Slots move by parallelism alone.
            (plan(Running, 3), Some(job()), "run 3"),
            (plan(Waiting, 0), Some(job()), "suspend"),
            (plan(Starting, 2), Some(suspended()), "run 2"),
            // Edits are followed.
            (plan(Running, 2), Some(ObservedTaskJob { completions: 3, ..job() }), "run 4 of Some(4)"),
            (plan(Running, 2), Some(ObservedTaskJob { template: "u".into(), ..job() }), "replace"),
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
        assert!(!actions(&decided, &finished, at(1_010)).contains(&Action::Expire));
        assert_eq!(actions(&decided, &finished, at(1_060)), [Action::Expire]);
        finished.ttl_seconds_after_finished = None;
        assert_eq!(time_left(&finished, at(9_999)), None);
        assert!(!actions(&decided, &finished, at(9_999)).contains(&Action::Expire));
    }
}
