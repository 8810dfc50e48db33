//! What the API server said of one QueueJob and its Jobs, beyond what a decision is made from.

use std::sync::Arc;

use quotient_crds::{QueueJobCondition, QueueJobStatus};
use quotient_engine::names::QueueJobUid;
use quotient_engine::snapshot::{Ended, QueueJob};
use quotient_engine::time::Timestamp;

use crate::interned::Interned;
use crate::meta::ResourceVersion;
use crate::priority_classes::AskedPriority;
use crate::time::timestamp;

/// A QueueJob as it was seen last: what the operator needs to keep its Jobs and to write its status only when that changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedQueueJob {
    /// Its id.
    pub uid: QueueJobUid,
    /// Its version.
    pub resource_version: Option<ResourceVersion>,
    /// The generation of its spec, to be reported as observed.
    pub generation: Option<i64>,
    /// Whether its deletion was requested.
    pub deleting: bool,
    /// How long it is kept once it has come to an end.
    pub ttl_seconds_after_finished: Option<i32>,
    /// Its status as it stands, none if it never had one or cannot be decoded.
    pub status: Option<StoredStatus>,
    /// Since when its status says that it has ended.
    pub ended: Option<Timestamp>,
    /// Its tasks, in the order of its spec.
    pub tasks: Vec<ObservedTask>,
}

/// The status of a QueueJob as JSON. Equal ones are kept once: those of a crowd that waits for the same room differ in little
/// more than their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStatus(Arc<str>);

/// One task of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedTask {
    /// Its name.
    pub name: Arc<str>,
    /// How many pods have to succeed.
    pub replicas: u32,
    /// What its Job is to be made of, as [`task_hash`](super::task_hash) tells.
    pub template: Arc<str>,
    /// Its Job, if there is one.
    pub job: Option<ObservedTaskJob>,
}

/// The Job of a task as it was seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedTaskJob {
    /// Its id.
    pub uid: Arc<str>,
    /// How many of its pods may run at once.
    pub parallelism: u32,
    /// How many have to succeed.
    pub completions: u32,
    /// Whether it is suspended.
    pub suspended: bool,
    /// What it was made of.
    pub template: Arc<str>,
    /// Whether its deletion was requested.
    pub deleting: bool,
    /// How it ended, if it has.
    pub end: Option<JobEnd>,
}

/// How a Job ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JobEnd {
    /// All its pods have succeeded.
    Complete,
    /// It has failed: the reason and the message of its condition.
    Failed(Arc<str>, Arc<str>),
}

impl StoredStatus {
    fn of(status: &QueueJobStatus, texts: &mut Interned<str>) -> Option<Self> {
        serde_json::to_string(status).ok().map(|text| Self(texts.get(text)))
    }

    /// What it says.
    pub fn read(&self) -> QueueJobStatus {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// How and when the QueueJob ended, if its status says so. What has ended stays so, whatever becomes of its Jobs.
pub(crate) fn end(status: &QueueJobStatus) -> Option<(Ended, Timestamp)> {
    let holds = |condition, end| {
        let found = status.condition(condition).filter(|found| found.status == "True")?;
        Some((end, timestamp(&found.last_transition_time)))
    };
    holds(QueueJobCondition::Failed, Ended::Failed)
        .or_else(|| holds(QueueJobCondition::Complete, Ended::Complete))
}

impl ObservedQueueJob {
    /// Keeps `status`, as text among the `texts`.
    pub(crate) fn keep_status(&mut self, status: &QueueJobStatus, texts: &mut Interned<str>) {
        self.ended = end(status).map(|(_, since)| since);
        self.status = StoredStatus::of(status, texts);
    }
}

/// What is kept of a QueueJob.
#[derive(Debug)]
pub(crate) struct QueueJobEntry {
    /// What its spec and its status say; what its Jobs say is left open.
    pub(crate) job: QueueJob,
    /// How its pods ask for a priority.
    pub(crate) asked: Option<AskedPriority>,
    /// What the operator needs to know of it; its tasks' Jobs are left open.
    pub(crate) observed: ObservedQueueJob,
}
