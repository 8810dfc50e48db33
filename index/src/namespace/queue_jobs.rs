//! The QueueJobs of a namespace.

use std::sync::Arc;

use quotient_engine::snapshot::QueueJob;

use super::{NamespaceEntry, make_room};

impl NamespaceEntry {
    /// Shows snapshots this QueueJob under its name, or none. Says whether a decision depends on the difference.
    pub(crate) fn show_queue_job(&mut self, name: &str, job: Option<QueueJob>) -> bool {
        let place = self.state.queue_jobs.binary_search_by(|job| (*job.name).cmp(name));
        match (place, job) {
            (Ok(at), Some(job)) => {
                if self.state.queue_jobs.get(at) == Some(&job) {
                    return false;
                }
                if let Some(shown) = Arc::make_mut(&mut self.state).queue_jobs.get_mut(at) {
                    *shown = job;
                }
            }
            (Ok(at), None) => {
                Arc::make_mut(&mut self.state).queue_jobs.remove(at);
            }
            (Err(at), Some(job)) => {
                let jobs = &mut Arc::make_mut(&mut self.state).queue_jobs;
                make_room(jobs);
                jobs.insert(at, job);
            }
            (Err(_), None) => return false,
        }
        true
    }
}
