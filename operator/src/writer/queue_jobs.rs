//! What became of the Jobs of QueueJobs.

use std::collections::BTreeMap;

use quotient_engine::plan::{Plan, QueueJobName};
use tracing::{debug, warn};

use crate::context::Context;
use crate::events::{JobNews, Notice};
use crate::executor::{Completed, Outcome};

/// What the API server refused, in its words, until it is accepted.
#[derive(Debug, Default)]
pub(super) struct RefusedJobs(BTreeMap<QueueJobName, String>);

impl RefusedJobs {
    /// Forgets QueueJobs that are not in `plan`.
    pub(super) fn retain(&mut self, plan: &Plan) {
        self.0.retain(|name, _| plan.queue_jobs.contains_key(name));
    }

    /// Why a Job of each QueueJob was refused.
    pub(super) const fn reasons(&self) -> &BTreeMap<QueueJobName, String> {
        &self.0
    }

    /// Takes note of what became of a Job of `name`, or of `name` itself.
    pub(super) fn settle(
        &mut self,
        name: &QueueJobName,
        Completed { outcome, why, .. }: &Completed,
        context: &Context,
    ) {
        match outcome {
            Outcome::Done => {
                debug!(queue_job = %name, "wrote a Job");
                self.0.remove(name);
            }
            Outcome::Skipped => {}
            Outcome::Refused(_) => {
                warn!(queue_job = %name, error = why, "a Job was refused");
                if self.0.insert(name.clone(), why.clone()).as_ref() != Some(why) {
                    tell(name, why, context);
                }
            }
            Outcome::Stale(_) | Outcome::Unknown(_) => {
                warn!(queue_job = %name, error = why, "a Job was perhaps not written");
            }
        }
    }
}

fn tell(name: &QueueJobName, why: &str, context: &Context) {
    let observed = context.view.read(|index| index.observed_queue_job(&name.namespace, &name.name));
    if let Some(observed) = observed {
        let news = JobNews::Refused(why.to_owned());
        context.recorder.record(Notice::QueueJob { name: name.clone(), uid: observed.uid, news });
    }
}
