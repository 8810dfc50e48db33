//! Writing statuses, behind the loop: the newest plan wins, and a slow API server delays no decision.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::names::FIELD_MANAGER;
use quotient_crds::{Queue, QueueStatus};
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_index::{Decoded, Keeps};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::status_changes::{Change, StatusChanges};
use super::{Blocked, Tools};
use crate::answer::{Answer, ask, said};
use crate::status::patch::merge_patch;

/// How long one write of a status may take.
const CALL: Duration = Duration::from_secs(5);

/// How often stored statuses are compared even if nothing was decided: somebody may have edited one.
const RECHECK: Duration = Duration::from_secs(30);

/// How many statuses are written at the same time.
const PARALLEL: usize = 8;

/// What metrics call a write of a status.
const KIND: &str = "queue_status";

/// What one cycle found.
#[derive(Debug, Default)]
pub struct Report {
    /// What was decided.
    pub plan: Arc<Plan>,
    /// Quotas that the API server refuses, and why.
    pub refused: BTreeMap<QueueName, String>,
    /// Quotas that others change faster than they are put right, in words.
    pub contested: BTreeMap<QueueName, String>,
    /// Queues for which evictions are blocked, and why.
    pub blocked: BTreeMap<QueueName, Blocked>,
}

/// Writes the statuses of Queues.
pub struct Statuses {
    tools: Tools,
    changes: StatusChanges,
}

impl Statuses {
    /// Writes what only informs at most every `interval` for one queue.
    pub fn new(tools: Tools, interval: Duration) -> Self {
        let changes = StatusChanges::new(&tools, interval);
        Self { tools, changes }
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
                () = self.tools.stop.cancelled() => return,
                changed = reports.changed() => if changed.is_err() { return },
                () = tokio::time::sleep_until(later) => {}
            }
            let report = reports.borrow_and_update().clone();
            due = match report {
                Some(report) if self.tools.may_write() => self.write(&report).await,
                _ => None,
            };
        }
    }

    /// Writes what is due. Returns when something else will be.
    async fn write(&mut self, report: &Arc<Report>) -> Option<Instant> {
        let (due, mut next) = self.changes.due(report, Instant::now());
        let tools = &self.tools;
        let writes: Vec<_> = due
            .into_iter()
            .map(|change| async move {
                let outcome = write_one(tools, &change).await;
                (change, outcome)
            })
            .collect();
        let mut outcomes = stream::iter(writes).buffer_unordered(PARALLEL);
        while let Some((change, outcome)) = outcomes.next().await {
            match outcome {
                Outcome::Written => self.changes.wrote(change, Instant::now()),
                Outcome::Skipped => {}
                Outcome::Failed(why) => {
                    warn!(queue = %change.queue, error = why, "the status was not written");
                    let again = self.changes.failed(&change, why, Instant::now());
                    next = [next, again].into_iter().flatten().min();
                }
            }
        }
        next
    }
}

/// What became of one write.
enum Outcome {
    /// It is stored, or there is nothing left to store it in.
    Written,
    /// This replica may not write any more.
    Skipped,
    /// It is not stored, or perhaps not.
    Failed(String),
}

async fn write_one(tools: &Tools, change: &Change) -> Outcome {
    if !tools.may_write() {
        return Outcome::Skipped;
    }
    let patch = match difference(change) {
        Ok(Some(patch)) => patch,
        Ok(None) => return Outcome::Written,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let api: Api<Decoded<Queue>> = Api::namespaced(tools.client.clone(), change.queue.namespace.as_str());
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let answer = ask(CALL, api.patch_status(&change.queue.name, &parameters, &patch)).await;
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(queue) => {
            debug!(queue = %change.queue, "wrote the status");
            // Read our own writes. Nothing is decided by a status, so nobody is woken.
            tools.view.read(|index| Keeps::<Decoded<Queue>>::apply(index, &queue));
            Outcome::Written
        }
        Answer::Refused(status) if status.code == 404 => Outcome::Written,
        Answer::Refused(status) => Outcome::Failed(said(&status)),
        Answer::Unknown(lost) => Outcome::Failed(lost.to_string()),
    }
}

/// The smallest patch; none if the stored status says it all.
fn difference(change: &Change) -> Result<Option<Patch<serde_json::Value>>, serde_json::Error> {
    let value = |status: &QueueStatus| serde_json::to_value(status);
    let stored = change.stored.as_ref().map(value).transpose()?.unwrap_or_else(|| json!({}));
    let difference = merge_patch(&stored, &value(&change.wanted)?);
    Ok(difference.map(|status| Patch::Merge(json!({"status": status}))))
}
