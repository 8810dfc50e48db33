//! A QueueJob as its user wrote it, and as far as its Jobs have brought it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::names::{GangName, OwnerUid, QueueJobUid};
use crate::time::Timestamp;

/// What the engine needs to know of a QueueJob. What its pods look like stands with its tasks' owners, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueJob {
    /// Its id for life.
    pub uid: QueueJobUid,
    /// Its `metadata.generation`: it changes with its spec.
    pub generation: i64,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// When it was created.
    pub created: Timestamp,
    /// The priority of its pods.
    pub priority: i32,
    /// How many pods have to run or to have succeeded for the gang to be of use.
    pub min_available: u32,
    /// Whether it asks for nothing, because its spec says so.
    pub suspended: bool,
    /// Whether it has come to an end.
    pub ended: Option<Ended>,
    /// What is wrong with its spec, if it could not be understood; the text is for its user.
    pub invalid: Option<Arc<str>>,
    /// How long its gang may take to run once it has its slots.
    pub start_timeout_seconds: u32,
    /// What earlier decisions left in its status.
    pub remembered: RememberedJob,
    /// Its tasks, in the order of its spec.
    pub tasks: Vec<QueueTask>,
}

/// One task of a QueueJob, and its Job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueTask {
    /// Its name within the QueueJob.
    pub name: Arc<str>,
    /// The uid of its Job, by which its pods name it; something that no pod names until there is one.
    pub owner: OwnerUid,
    /// How many pods have to succeed.
    pub replicas: u32,
    /// How many of them the gang cannot do without.
    pub min_available: u32,
    /// What each of them requests.
    pub shape: Arc<Shape>,
    /// How many have succeeded.
    pub succeeded: u32,
    /// How many have failed.
    pub failed: u32,
    /// How many its Job may run at once: nothing while it is suspended, or not there.
    pub parallelism: u32,
}

/// How a QueueJob ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ended {
    /// All its pods have succeeded.
    Complete,
    /// One of its tasks has failed.
    Failed,
}

/// What a QueueJob's status remembers of earlier decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedJob {
    /// Since when it has had its slots.
    pub admitted: Option<Timestamp>,
    /// Since when its gang has not been running.
    pub unready: Option<Timestamp>,
    /// How often in a row it had its slots and did not run in time.
    pub start_failures: u32,
    /// Until when it asks for no slots because of that.
    pub retry_at: Option<Timestamp>,
}

impl QueueJob {
    /// The gang that its pods are members of.
    pub fn gang_name(name: &str) -> GangName {
        GangName::new(format!("queuejob/{name}"))
    }

    /// How many pods have still to run for the gang to be of use: what has succeeded counts.
    pub fn floor(&self) -> u32 {
        self.min_available.saturating_sub(self.succeeded())
    }

    /// How many pods have succeeded.
    pub fn succeeded(&self) -> u32 {
        self.sum(|task| task.succeeded.min(task.replicas))
    }

    /// How many pods have failed.
    pub fn failed(&self) -> u32 {
        self.sum(|task| task.failed)
    }

    /// What `of` its tasks comes to.
    pub fn sum(&self, of: impl Fn(&QueueTask) -> u32) -> u32 {
        self.tasks.iter().map(of).fold(0, u32::saturating_add)
    }

    /// The longest that it rests after it did not start.
    pub const LONGEST_REST_SECONDS: i64 = 3600;

    /// Whether it asks for no slots now: it is suspended, has ended, or did not start with those it had.
    pub fn is_resting(&self, now: Timestamp) -> bool {
        self.suspended || self.ended.is_some() || self.invalid.is_some() || self.rests_until(now).is_some()
    }

    /// Until when it asks for no slots, because it did not start with those it had.
    ///
    /// Later than a rest can take is what a leader wrote whose clock was wrong.
    pub fn rests_until(&self, now: Timestamp) -> Option<Timestamp> {
        let longest = now.plus_seconds(Self::LONGEST_REST_SECONDS);
        self.remembered.retry_at.filter(|until| now < *until && *until <= longest)
    }
}

impl QueueTask {
    /// How many pods have not succeeded yet.
    pub fn left(&self) -> u32 {
        self.replicas.saturating_sub(self.succeeded)
    }

    /// How many pods its Job may run now, without those that have no work left.
    pub fn may_run(&self) -> u32 {
        self.parallelism.min(self.left())
    }

    /// How many of them the gang cannot do without.
    pub fn floor(&self) -> u32 {
        self.min_available.saturating_sub(self.succeeded)
    }
}
