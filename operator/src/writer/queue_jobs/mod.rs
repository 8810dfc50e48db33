//! Jobs of QueueJobs, and their statuses.
//!
//! What is to be done is computed anew from what is seen and what is planned: a Job is created, told how many of its pods may
//! run, or deleted because its template was edited; a QueueJob that is finished is deleted in time. Slots are taken before
//! others are given. Nothing is remembered but what saves requests, so that whoever takes over goes on.

mod actions;
mod calls;
mod conditions;
mod status;
mod statuses;

use std::collections::BTreeMap;

use futures::{StreamExt, stream};
use quotient_engine::plan::{Plan, QueueJobName, QueueJobPlan};
use quotient_index::queue_jobs::ObservedQueueJob;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::Tools;
use super::retry::Retries;
use crate::events::{JobNews, Notice};
use actions::{Action, actions};
use calls::{Done, carry_out};
use statuses::JobStatuses;

/// How many calls are made at the same time.
const PARALLEL: usize = 16;

/// Keeps the Jobs of all QueueJobs as plans say.
pub(super) struct QueueJobWriter {
    tools: Tools,
    retries: Retries<QueueJobName>,
    /// What the API server refused, in its words, until it is accepted.
    refused: BTreeMap<QueueJobName, String>,
    statuses: JobStatuses,
    next: Option<Instant>,
}

/// What is seen of a QueueJob that is still the one that was decided on, and is to stay.
fn observed(tools: &Tools, name: &QueueJobName, decided: &QueueJobPlan) -> Option<ObservedQueueJob> {
    let observed = tools.view.read(|index| index.observed_queue_job(&name.namespace, &name.name));
    observed.filter(|observed| observed.uid == decided.uid && !observed.deleting)
}

impl QueueJobWriter {
    pub(super) fn new(tools: Tools) -> Self {
        let statuses = JobStatuses::new(tools.clone());
        Self { tools, retries: Retries::new(), refused: BTreeMap::new(), statuses, next: None }
    }

    /// When something that was put off is to be done.
    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.next
    }

    /// Carries out what `plan` says of QueueJobs. Returns when every call was answered or timed out.
    pub(super) async fn keep(&mut self, plan: &Plan) {
        self.next = None;
        self.retries.retain(|name| plan.queue_jobs.contains_key(name));
        self.refused.retain(|name, _| plan.queue_jobs.contains_key(name));
        if plan.queue_jobs.is_empty() {
            return;
        }
        let (takes, gives): (Vec<_>, Vec<_>) =
            self.due(plan).into_iter().partition(|(_, action)| action.takes());
        self.carry_out(takes).await;
        self.carry_out(gives).await;
        let next = self.statuses.write(plan, &self.refused).await;
        self.wake_at(next);
    }

    /// What is to be done now.
    fn due(&mut self, plan: &Plan) -> Vec<(QueueJobName, Action)> {
        let now = Instant::now();
        let mut due = Vec::new();
        for (name, decided) in plan.queue_jobs.iter().filter(|(_, decided)| !decided.withheld) {
            let Some(observed) = observed(&self.tools, name, decided) else { continue };
            if self.retries.is_waiting(name, now) {
                self.wake_at(self.retries.until(name));
                continue;
            }
            let (all, later) = actions(decided, &observed, self.tools.clock.now());
            due.extend(all.into_iter().map(|action| (name.clone(), action)));
            self.wake_at(later.and_then(|later| now.checked_add(later)));
        }
        due
    }

    async fn carry_out(&mut self, all: Vec<(QueueJobName, Action)>) {
        let tools = &self.tools;
        let calls: Vec<_> = all
            .into_iter()
            .map(|(name, action)| async move {
                let done = carry_out(tools, &name, &action).await;
                (name, action, done)
            })
            .collect();
        let mut calls = stream::iter(calls).buffer_unordered(PARALLEL);
        let mut again = Vec::new();
        while let Some((name, action, done)) = calls.next().await {
            tools.beat.now();
            match done {
                Done::Written => {
                    debug!(queue_job = %name, ?action, "carried out");
                    self.retries.clear(&name);
                    self.refused.remove(&name);
                }
                Done::Skipped => {}
                Done::Refused(why) => {
                    warn!(queue_job = %name, error = why, "a Job was refused");
                    self.retries.failed(&name, why.clone(), true, Instant::now());
                    let before = self.refused.insert(name.clone(), why.clone());
                    if before.as_ref() != Some(&why) {
                        tell_refusal(tools, &name, why);
                    }
                    again.push(name);
                }
                Done::Unknown(why) => {
                    warn!(queue_job = %name, error = why, "a Job was perhaps not written");
                    self.retries.failed(&name, why, false, Instant::now());
                    again.push(name);
                }
            }
        }
        drop(calls);
        for name in again {
            self.wake_at(self.retries.until(&name));
        }
    }

    fn wake_at(&mut self, at: Option<Instant>) {
        self.next = [self.next, at].into_iter().flatten().min();
    }
}

fn tell_refusal(tools: &Tools, name: &QueueJobName, why: String) {
    let observed = tools.view.read(|index| index.observed_queue_job(&name.namespace, &name.name));
    if let Some(observed) = observed {
        let news = JobNews::Refused(why);
        tools.announcer.announce(Notice::QueueJob { name: name.clone(), uid: observed.uid, news });
    }
}
