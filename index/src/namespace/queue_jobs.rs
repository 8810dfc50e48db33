//! The QueueJobs of a namespace.

use std::sync::Arc;

use quotient_snapshot::QueueJob;

use super::{NamespaceEntry, keep};
use crate::queue_jobs::{TaskJob, job_name};

impl NamespaceEntry {
    /// The Job of a task of this QueueJob; none if what has its name is not of this QueueJob.
    pub(crate) fn task_job(&self, job: &QueueJob, task: &str) -> Option<&TaskJob> {
        let found = self.task_jobs.get(&*job_name(&job.name, task));
        found.filter(|found| *found.controller == *job.uid.as_str())
    }

    /// Shows snapshots this QueueJob under its name, or none. Says whether a decision depends on the difference.
    pub(crate) fn show_queue_job(&mut self, name: &str, job: Option<QueueJob>) -> bool {
        let shown = &self.state.queue_jobs;
        let place = shown.binary_search_by(|job| (*job.name).cmp(name));
        if place.ok().and_then(|at| shown.get(at)) == job.as_ref() {
            return false;
        }
        let shown = &mut Arc::make_mut(&mut self.state).queue_jobs;
        match (job, place) {
            (Some(job), place) => keep(shown, place, job),
            (None, Ok(at)) => drop(shown.remove(at)),
            (None, Err(_)) => {}
        }
        true
    }
}
