//! Writing statuses, behind the loop: the newest plan wins, and a slow API server delays no decision.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{Patch, PatchParams};
use kube::core::DeserializeGuard;
use quotient_crds::names::FIELD_MANAGER;
use quotient_crds::{Queue, QueueStatus};
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_index::Keeps;
use quotient_index::queues::ObservedQueue;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::Tools;
use super::retry::Retries;
use crate::answer::{Answer, ask, said};
use crate::args::Mode;
use crate::status::pace::{Pacer, When};
use crate::status::patch::merge_patch;
use crate::status::{Circumstances, Overview, QuotaState, compose};

/// How long one write of a status may take.
const CALL: Duration = Duration::from_secs(5);

/// How long a written quota may take to be enforced before that is worth a condition.
const NORMAL: Duration = Duration::from_secs(2);

/// How long the same status is not sent again to a Queue that does not show it.
const STUBBORN: Duration = Duration::from_secs(60);

/// How many statuses are written at the same time.
const PARALLEL: usize = 8;

/// What metrics call a write of a status.
const KIND: &str = "queue_status";

/// What one cycle found.
#[derive(Debug)]
pub struct Report {
    /// What was decided.
    pub plan: Arc<Plan>,
    /// Quotas that the API server refuses, and why.
    pub refused: BTreeMap<QueueName, String>,
    /// Queues for which evictions are blocked, and why.
    pub blocked: BTreeMap<QueueName, String>,
}

/// Writes the statuses of Queues.
pub struct Statuses {
    tools: Tools,
    mode: Mode,
    pacer: Pacer,
    retries: Retries<QueueName>,
    /// Since when each queue's quota is not what the plan wants, or not enforced.
    unsettled: BTreeMap<QueueName, Instant>,
    /// What was sent last, for Queues whose stored status cannot be read back.
    sent: BTreeMap<QueueName, (Instant, QueueStatus)>,
}

/// One status to write.
struct Change {
    queue: QueueName,
    stored: Option<QueueStatus>,
    wanted: QueueStatus,
}

impl Statuses {
    /// Writes what only informs at most every `interval` for one queue.
    pub fn new(tools: Tools, mode: Mode, interval: Duration) -> Self {
        Self {
            tools,
            mode,
            pacer: Pacer::new(interval),
            retries: Retries::new(),
            unsettled: BTreeMap::new(),
            sent: BTreeMap::new(),
        }
    }

    /// Writes until stopped: what every new report changes, and what had to wait.
    pub async fn run(mut self, mut reports: watch::Receiver<Option<Arc<Report>>>) {
        let mut due: Option<Instant> = None;
        loop {
            let later = async {
                match due {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.tools.stop.cancelled() => return,
                changed = reports.changed() => if changed.is_err() { return },
                () = later => {}
            }
            let report = reports.borrow_and_update().clone();
            due = match report {
                Some(report) if self.tools.may_write() => self.write(&report).await,
                _ => None,
            };
        }
    }

    /// Writes what is due. Returns when something else will be.
    async fn write(&mut self, report: &Report) -> Option<Instant> {
        let now = Instant::now();
        self.forget_absent(&report.plan);
        let (changes, mut next) = self.changes(report, now);
        let Self { tools, pacer, retries, sent, .. } = self;
        let tools = &*tools;
        let writes: Vec<_> = changes
            .into_iter()
            .map(|change| async move {
                let outcome = write_one(tools, &change).await;
                (change, outcome)
            })
            .collect();
        let mut outcomes = stream::iter(writes).buffer_unordered(PARALLEL);
        while let Some((change, outcome)) = outcomes.next().await {
            let now = Instant::now();
            match outcome {
                Ok(()) => {
                    retries.clear(&change.queue);
                    pacer.wrote(&change.queue, now);
                    sent.insert(change.queue, (now, change.wanted));
                }
                Err(why) => {
                    warn!(queue = %change.queue, error = why, "the status was not written");
                    retries.failed(&change.queue, why, true, now);
                }
            }
        }
        next.extend(retries.next());
        next.into_iter().min()
    }

    /// What is to be written now, and when the rest may be.
    fn changes(&mut self, report: &Report, now: Instant) -> (Vec<Change>, Vec<Instant>) {
        let overview = Overview::of(&report.plan);
        let clock = Timestamp::now();
        let mut changes = Vec::new();
        let mut later = Vec::new();
        for queue in report.plan.queues.keys().chain(report.plan.stalled.keys()) {
            let Some(observed) = self.tools.view.read(|index| index.observed_queue(queue).cloned()) else {
                continue;
            };
            if !concerns(&report.plan, queue, &observed) {
                continue;
            }
            let quota = self.quota_state(report, queue, now, &mut later);
            let blocked = report.blocked.get(queue).cloned();
            let circumstances = Circumstances { mode: self.mode, quota, blocked };
            let stored = observed.status.clone();
            let Some(wanted) =
                compose(&overview, queue, observed.generation, stored.as_ref(), &circumstances, clock)
            else {
                continue;
            };
            if self.retries.is_waiting(queue, now) || self.is_repetition(queue, stored.as_ref(), &wanted, now)
            {
                continue;
            }
            match self.pacer.when(queue, stored.as_ref(), &wanted, now) {
                When::Never => {}
                When::Now => changes.push(Change { queue: queue.clone(), stored, wanted }),
                When::At(at) => later.push(at),
            }
        }
        (changes, later)
    }

    fn quota_state(
        &mut self,
        report: &Report,
        queue: &QueueName,
        now: Instant,
        later: &mut Vec<Instant>,
    ) -> QuotaState {
        if report.plan.queues.get(queue).is_none_or(|plan| plan.quota_in_force) {
            self.unsettled.remove(queue);
            return QuotaState::InForce;
        }
        if let Some(why) = report.refused.get(queue) {
            return QuotaState::Refused(why.clone());
        }
        let since = *self.unsettled.entry(queue.clone()).or_insert(now);
        match since.checked_add(NORMAL) {
            Some(due) if due > now => {
                later.push(due);
                QuotaState::Settling
            }
            _ => QuotaState::Waiting,
        }
    }

    /// Whether exactly this was sent a moment ago and is not shown: it cannot be read, or somebody else writes.
    fn is_repetition(
        &self,
        queue: &QueueName,
        stored: Option<&QueueStatus>,
        wanted: &QueueStatus,
        now: Instant,
    ) -> bool {
        stored.is_none_or(|stored| !stored.same_meaning(wanted))
            && self.sent.get(queue).is_some_and(|(at, sent)| {
                sent.same_meaning(wanted) && now.saturating_duration_since(*at) < STUBBORN
            })
    }

    fn forget_absent(&mut self, plan: &Plan) {
        let exists = |queue: &QueueName| plan.queues.contains_key(queue) || plan.stalled.contains_key(queue);
        self.pacer.retain(exists);
        self.retries.retain(exists);
        self.unsettled.retain(|queue, _| exists(queue));
        self.sent.retain(|queue, _| exists(queue));
    }
}

async fn write_one(tools: &Tools, change: &Change) -> Result<(), String> {
    if !tools.may_write() {
        return Err("this replica does not lead any more".to_owned());
    }
    let value = |status: &QueueStatus| serde_json::to_value(status).map_err(|error| error.to_string());
    let stored = change.stored.as_ref().map(value).transpose()?.unwrap_or_else(|| json!({}));
    let Some(difference) = merge_patch(&stored, &value(&change.wanted)?) else { return Ok(()) };
    let api: Api<DeserializeGuard<Queue>> =
        Api::namespaced(tools.client.clone(), change.queue.namespace.as_str());
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({"status": difference}));
    let answer = ask(CALL, api.patch_status(&change.queue.name, &parameters, &patch)).await;
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(queue) => {
            debug!(queue = %change.queue, "wrote the status");
            // Read our own writes. Nothing is decided by a status, so nobody is woken.
            tools.view.read(|index| Keeps::<DeserializeGuard<Queue>>::apply(index, &queue));
            Ok(())
        }
        // It is gone, and with it the wish to write.
        Answer::Refused(status) if status.code == 404 => Ok(()),
        Answer::Refused(status) => Err(said(&status)),
        Answer::Unknown(lost) => Err(lost.to_string()),
    }
}

/// Whether the plan is about this life of the Queue, and the Queue is to stay.
fn concerns(plan: &Plan, queue: &QueueName, observed: &ObservedQueue) -> bool {
    let uid = plan.queues.get(queue).map(|plan| &plan.uid);
    let uid = uid.or_else(|| plan.stalled.get(queue).map(|stall| &stall.uid));
    uid == Some(&observed.uid) && !observed.deleting
}
