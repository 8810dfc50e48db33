//! Jobs of QueueJobs get the parallelism that a plan says.

use std::sync::Arc;

use quotient_engine::plan::{Plan, QueueJobName, QueueJobPhase};
use quotient_engine::snapshot::{RememberedJob, Snapshot};

/// Writes every QueueJob's parallelism to its Jobs, and what is to be remembered of it to its status.
pub(super) fn keep(snapshot: &mut Snapshot, plan: &Plan) {
    let now = snapshot.now;
    for (QueueJobName { namespace, name }, decided) in &plan.queue_jobs {
        let Some(state) = snapshot.namespaces.get_mut(namespace) else { continue };
        let mut jobs = state.queue_jobs.iter().enumerate();
        let Some((at, job)) = jobs.find(|(_, job)| job.name == *name) else { continue };
        let runs = decided.phase == QueueJobPhase::Running;
        let admitted = runs || decided.phase == QueueJobPhase::Starting;
        let mut next = job.clone();
        next.remembered = RememberedJob {
            admitted: admitted.then(|| job.remembered.admitted.unwrap_or(now)),
            unready: (!runs).then(|| job.remembered.unready.unwrap_or(now)),
            start_failures: decided.start_failures,
            retry_at: decided.retry_at,
        };
        if !decided.withheld {
            let tasks = next.tasks.iter_mut().zip(&decided.parallelism);
            tasks.for_each(|(task, count)| task.parallelism = *count);
        }
        if next != *job
            && let Some(job) = Arc::make_mut(state).queue_jobs.get_mut(at)
        {
            *job = next;
        }
    }
}
