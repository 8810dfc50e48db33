//! Writing statuses, behind the loop: the newest plan wins, and a slow API server delays no decision.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Blocked;
use super::changes::{StatusChanges, status_key};
use crate::context::Context;
use crate::executor::{Completed, Executor, Outcome, Pace, Purpose, TurnLength};
use crate::settings::WriteSettings;

/// How often stored statuses are compared even if nothing was decided: another writer may have edited one.
const RECHECK: Duration = Duration::from_secs(30);

/// What one cycle found.
#[derive(Debug, Default)]
pub struct Report {
    /// What was decided.
    pub plan: Arc<Plan>,
    /// Quotas that the API server refuses, and why.
    pub refused: BTreeMap<QueueName, String>,
    /// Quotas that others change faster than they are restored, in words.
    pub contested: BTreeMap<QueueName, String>,
    /// Queues for which evictions are blocked, and why.
    pub blocked: BTreeMap<QueueName, Blocked>,
}

/// Writes the statuses of Queues.
pub struct Statuses {
    context: Context,
    executor: Executor,
    changes: StatusChanges,
}

impl Statuses {
    /// Writes what only informs at most every `interval` for one queue.
    pub fn new(context: Context, settings: WriteSettings, interval: Duration) -> Self {
        let changes = StatusChanges::new(context.clone(), interval);
        let executor = Executor::new(context.clone(), Pace::new(settings));
        Self { context, executor, changes }
    }

    /// Writes until stopped: what every new report changes, and what had to wait.
    pub async fn run(mut self, mut reports: watch::Receiver<Option<Arc<Report>>>) {
        let mut due: Option<Instant> = None;
        loop {
            let now = Instant::now();
            let recheck = now.checked_add(RECHECK).unwrap_or(now);
            let later = due.map_or(recheck, |due| due.min(recheck));
            tokio::select! {
                biased;
                () = self.context.stop.cancelled() => return,
                changed = reports.changed() => if changed.is_err() { return },
                () = tokio::time::sleep_until(later) => {}
            }
            let report = reports.borrow_and_update().clone();
            due = match report {
                Some(report) if self.context.may_write() => self.write(&report).await,
                _ => None,
            };
        }
    }

    /// Writes what is due. Returns when something else will be.
    async fn write(&mut self, report: &Arc<Report>) -> Option<Instant> {
        let Self { executor, changes, .. } = self;
        let (due, next) = changes.due(report, executor, Instant::now());
        let mut failed = Vec::new();
        executor
            .carry_out(due, TurnLength::USUAL, |Completed { purpose, outcome, .. }| {
                let Purpose::Status { queue, uid, wanted } = purpose else { return };
                match outcome {
                    Outcome::Done => changes.wrote(queue, uid, *wanted, Instant::now()),
                    Outcome::Skipped => {}
                    Outcome::Stale(_) | Outcome::Refused(_) | Outcome::Unknown(_) => failed.push(queue),
                }
            })
            .await;
        let again = failed.iter().filter_map(|queue| executor.retries.until(&status_key(queue)));
        again.chain(next).min()
    }
}
