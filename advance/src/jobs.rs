//! Jobs of QueueJobs get the parallelism that a plan says.

use std::sync::Arc;

use quotient_engine::plan::{Plan, QueueJobName, QueueJobPhase};
use quotient_engine::snapshot::{QueueTask, RememberedJob, Snapshot};

/// Writes every QueueJob's parallelism to its Jobs, and what is to be remembered of it to its status.
pub(super) fn keep(snapshot: &mut Snapshot, plan: &Plan) {
    let now = snapshot.now;
    for (QueueJobName { namespace, name }, decided) in &plan.queue_jobs {
        let Some(state) = snapshot.namespaces.get_mut(namespace) else { continue };
        let Some(at) = state.queue_jobs.iter().position(|job| job.name == *name) else { continue };
        let Some(job) = state.queue_jobs.get(at) else { continue };
        let runs = decided.phase == QueueJobPhase::Running;
        let admitted = runs || decided.phase == QueueJobPhase::Starting;
        let remembered = RememberedJob {
            admitted: admitted.then(|| job.remembered.admitted.unwrap_or(now)),
            unready: (!runs).then(|| job.remembered.unready.unwrap_or(now)),
            start_failures: decided.start_failures,
            retry_at: decided.retry_at,
        };
        let is_as_decided = |count: (&QueueTask, &u32)| count.0.parallelism == *count.1;
        let same = job.remembered == remembered
            && (decided.withheld || job.tasks.iter().zip(&decided.parallelism).all(is_as_decided));
        if same {
            continue;
        }
        let Some(job) = Arc::make_mut(state).queue_jobs.get_mut(at) else { continue };
        job.remembered = remembered;
        if !decided.withheld {
            job.tasks
                .iter_mut()
                .zip(&decided.parallelism)
                .for_each(|(task, count)| task.parallelism = *count);
        }
    }
}
