//! The statuses of QueueJobs: what is decided at once, what is counted every now and then.

mod compose;
mod conditions;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use quotient_crds::QueueJobStatus;
use quotient_engine::plan::{Plan, QueueJobName, QueueJobPlan};
use quotient_index::queue_jobs::{ObservedQueueJob, StoredStatus};
use tokio::time::Instant;

use super::patch::status_patch;
use crate::alarm::Alarm;
use crate::context::Context;
use crate::executor::{Backoff, Class, Key, Kind, Life, Object, Operation, Outcome, Purpose};
use crate::operations::queue_jobs::{MOST_PER_CYCLE, in_turns, seen};
use compose::compose;

/// What only counts pods is written at most this often for one QueueJob.
const COUNTS: Duration = Duration::from_secs(1);

/// How long a write that failed, or that did not stick, is not repeated.
const AGAIN: Duration = Duration::from_secs(5);

/// Remembers what keeps statuses from being written too often.
#[derive(Debug, Default)]
pub(crate) struct JobStatuses {
    /// When each was written last, and what, as long as another write has to wait for that.
    written: BTreeMap<QueueJobName, (Instant, QueueJobStatus)>,
    /// Where the status says what was decided, the digest of all that it follows from.
    right: BTreeMap<QueueJobName, u64>,
}

impl JobStatuses {
    /// The statuses that `plan` changes, as many as one cycle writes; `retries` says what the API server said against Jobs.
    pub(crate) fn due(
        &mut self,
        plan: &Plan,
        retries: &Backoff<Key>,
        alarm: &mut Alarm,
        context: &Context,
    ) -> Vec<Operation> {
        let now = Instant::now();
        self.written.retain(|_, (at, _)| at.checked_add(AGAIN).is_some_and(|until| until > now));
        self.right.retain(|name, _| plan.queue_jobs.contains_key(name));
        let (mut due, nothing) = (Vec::new(), QueueJobStatus::default());
        for (name, decided) in in_turns(&plan.queue_jobs) {
            if due.len() >= MOST_PER_CYCLE {
                alarm.set(now);
                break;
            }
            let Some(seen) = context.view.read(|index| seen(index, name, decided)) else { continue };
            let refused = retries.refusal(&Key::new(Class::QueueJob, &name.namespace, &name.name));
            let digest = digest(decided, &seen, refused);
            if self.right.get(name) == Some(&digest) {
                continue;
            }
            let status = seen.status.as_ref().map(StoredStatus::read);
            let stored = status.as_ref().unwrap_or(&nothing);
            let wanted = compose(decided, &seen, stored, refused, context.clock.now());
            if wanted.same_meaning(stored) {
                self.right.insert(name.clone(), digest);
                continue;
            }
            let wait = match self.written.get(name) {
                // It was sent and is not what is seen: another writer writes it, too, or it is on its way.
                Some((at, sent)) if sent.same_meaning(&wanted) => at.checked_add(AGAIN),
                Some((at, _)) if same_decision(&wanted, stored) => at.checked_add(COUNTS),
                _ => None,
            };
            if let Some(until) = wait.filter(|until| *until > now) {
                alarm.set(until);
                continue;
            }
            let as_seen = Life::at(seen.uid.as_str(), seen.resource_version.as_ref());
            if let Some((life, request)) = status_patch(as_seen, status.as_ref(), &wanted) {
                let object = Object::new(Kind::QueueJob, &name.namespace, Arc::clone(&name.name));
                let purpose = Purpose::JobStatus { name: name.clone(), wanted: Box::new(wanted) };
                due.push(Operation { purpose, object, life, request });
            }
        }
        due
    }

    /// Takes note of what became of the status of `name`.
    pub(crate) fn settle(
        &mut self,
        name: &QueueJobName,
        wanted: &QueueJobStatus,
        outcome: &Outcome,
        alarm: &mut Alarm,
    ) {
        let now = Instant::now();
        if !matches!(outcome, Outcome::Done | Outcome::Skipped) {
            alarm.set(now.checked_add(AGAIN));
        }
        self.written.insert(name.clone(), (now, wanted.clone()));
    }
}

/// Differs wherever the status that is to be written may differ, or the one that is seen does.
fn digest(decided: &QueueJobPlan, seen: &ObservedQueueJob, refused: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (decided, &seen.resource_version, refused).hash(&mut hasher);
    for task in &seen.tasks {
        (&task.name, task.replicas, task.job.as_ref().map(|job| &job.end)).hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether only what is counted differs.
fn same_decision(wanted: &QueueJobStatus, stored: &QueueJobStatus) -> bool {
    let decided = |status: &QueueJobStatus| QueueJobStatus {
        used: None,
        pending: None,
        running: None,
        succeeded: None,
        failed: None,
        terminating: None,
        ..status.clone()
    };
    decided(wanted).same_meaning(&decided(stored))
}
