//! The one writer: carries out a plan, in the order that keeps Σ max(hard, charged) ≤ C.
//!
//! The ledger, then default requests, quotas that lower something, then those that only raise, then evictions, and beside
//! them nudges and removals of scheduling gates; then sizes of owners that yield inside their queue; at last the Jobs of
//! QueueJobs. Every call has a timeout, none is repeated: what failed is decided on again by the next cycle, from what is
//! then seen. Before every call it is checked that this replica still leads.
//!
//! RBAC, cluster-wide: `resourcequotas` create; get and patch of the one named `quotient`; `limitranges`
//! create; patch and delete of the one named `quotient`; `pods/eviction`
//! create; `queues.quotient.dev/status` patch; `replicasets.apps`, `statefulsets.apps` and `jobs.batch` patch, for one
//! annotation; `events.events.k8s.io` create. For sizes: `deployments.apps`, `replicasets.apps`, `statefulsets.apps` and
//! `jobs.batch` get and patch; `pods` patch, for one annotation. For Gate mode: `pods` patch, for one scheduling gate;
//! `resourcequotas` delete of the one named `quotient`. For QueueJobs: `queuejobs.quotient.dev` get, list, watch and delete,
//! `queuejobs.quotient.dev/status` patch; `jobs.batch` get, create, patch and delete.

mod again;
mod backoff;
mod blocked;
mod drift;
mod eviction_body;
mod evictions;
mod flights;
mod gates;
mod json_patch;
mod lacking;
mod limit_range_call;
mod limit_ranges;
mod nudges;
mod owning_queue;
mod queue_budgets;
mod queue_jobs;
mod quota_body;
mod quota_call;
mod quotas;
mod rate;
mod recounts;
mod retry;
mod scalings;
mod status_changes;
mod statuses;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use kube::Client;
use quotient_engine::ledger::Ledger;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_engine::snapshot::{Mode, Snapshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use blocked::Blocked;
pub use drift::Change;
pub use nudges::Requeue;
pub(crate) use quota_call::listed;
pub(crate) use retry::Retries;
pub use statuses::{Report, Statuses};

use crate::clock::Clock;
use crate::decisions::Decisions;
use crate::events::EventRecorder;
use crate::health::Heartbeat;
use crate::lease::Leadership;
use crate::ledger::{Dropped, LedgerKeeper, LedgerSettings, Vacancies};
use crate::metrics::Metrics;
use crate::particulars::StatusDetails;
use crate::settings::WriteSettings;
use crate::status::RecentReclaims;
use crate::view::View;
use evictions::Evictor;
use gates::GateRemover;
use limit_ranges::LimitRangeWriter;
use nudges::Nudger;
use queue_jobs::QueueJobWriter;
use quotas::QuotaWriter;
use scalings::Scaler;

/// What every part of the writer needs.
#[derive(Clone)]
pub struct Tools {
    /// The connection.
    pub client: Client,
    /// What time it is.
    pub clock: Clock,
    /// Where replies go.
    pub view: View,
    /// Whether anything may be written.
    pub leadership: Leadership,
    /// Where writes are counted.
    pub metrics: Metrics,
    /// Where events go.
    pub announcer: EventRecorder,
    /// Where evictions go that statuses list.
    pub reclaims: RecentReclaims,
    /// Where decisions are kept that acted.
    pub decisions: Decisions,
    /// The sign of life of the loop, which waits for the writer.
    pub beat: Heartbeat,
    /// No further call is made once this is cancelled.
    pub stop: CancellationToken,
}

impl Tools {
    /// Whether another call may be made.
    pub(crate) fn may_write(&self) -> bool {
        self.leadership.is_held() && !self.stop.is_cancelled()
    }
}

/// Carries out plans, one after the other.
pub struct Writer {
    tools: Tools,
    /// None where no plan grants anything, because the operator's own mode is Observe. Then it has no right to write it.
    ledger: Option<LedgerKeeper>,
    vacancies: Vacancies,
    quotas: QuotaWriter,
    limit_ranges: LimitRangeWriter,
    evictor: Evictor,
    gate_remover: GateRemover,
    nudger: Nudger,
    scaler: Scaler,
    queue_jobs: QueueJobWriter,
}

impl Writer {
    /// The writer of an operator in this `mode`.
    pub fn new(tools: &Tools, mode: Mode, settings: WriteSettings, ledger: LedgerSettings) -> Self {
        Self {
            tools: tools.clone(),
            ledger: (mode >= Mode::Quota).then(|| LedgerKeeper::new(tools.clone(), ledger)),
            vacancies: Vacancies::new(tools.clone()),
            quotas: QuotaWriter::new(tools.clone(), settings),
            limit_ranges: LimitRangeWriter::new(tools.clone(), settings),
            evictor: Evictor::new(tools.clone(), settings),
            gate_remover: GateRemover::new(tools.clone()),
            nudger: Nudger::default(),
            scaler: Scaler::new(tools.clone()),
            queue_jobs: QueueJobWriter::new(tools.clone()),
        }
    }

    /// To be called before every snapshot: notes what was answered meanwhile, forgets what was only assumed and is stale by
    /// now, and has the ledger in view.
    ///
    /// # Errors
    ///
    /// With the reason, when nothing may be written because the ledger is not known.
    pub async fn before_snapshot(&mut self) -> Result<(), String> {
        self.evictor.catch_up();
        self.quotas.note_enforced();
        if let Some(ledger) = &mut self.ledger {
            ledger.ready().await?;
            self.vacancies.confirm(ledger.version().as_ref()).await;
        }
        Ok(())
    }

    /// To be called when this replica does not lead: what it knows of the ledger is stale from now on.
    pub fn follow(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.forget();
        }
    }

    /// Writes down what `plan` grants and owes, which is the ledger `next`. Only then may it be carried out.
    ///
    /// # Errors
    ///
    /// The plan must be dropped.
    pub async fn grant(&mut self, next: Option<Ledger>, plan: &Plan) -> Result<(), Dropped> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let leaves = plan.queues.iter().filter(|(_, queue)| !queue.is_parent);
        let targets = leaves.map(|(name, queue)| (name.namespace.clone(), queue.target.clone()));
        ledger.write(next, &targets.collect()).await
    }

    /// The owners in `snapshot` that are to be told that there is room for their pods. Each counts as told.
    pub fn nudges(&mut self, snapshot: &Snapshot) -> Vec<Requeue> {
        let view = &self.tools.view;
        let charged = |namespace: &_| {
            let observed = view.read(|index| index.observed_quota(namespace).cloned());
            observed.map(|observed| observed.charged.clone()).unwrap_or_default()
        };
        self.nudger.due(snapshot, charged, Instant::now())
    }

    /// Writes the quotas of `plan`. Returns when every call was answered or timed out.
    pub async fn write_quotas(&mut self, plan: &Plan) {
        // Before the quotas that refuse what they make up for.
        self.limit_ranges.settle(plan).await;
        self.quotas.write(plan).await;
        self.nudger.risen(self.quotas.take_risen());
        let left_alone = namespaces(plan, |queue| queue.quota_left_alone);
        let mut recounts = self.nudger.take_recounts();
        recounts.retain(|namespace| !left_alone.contains(namespace));
        recounts::send(&self.tools, recounts).await;
    }

    /// Carries out the evictions of `plan`, and `nudges` and removals of gates beside them. Returns when every nudge and
    /// removal was answered or timed out, and every eviction was, or has been waited for long enough: see [`Writer::answered`].
    pub async fn evict_and_nudge(&mut self, plan: &Plan, nudges: Vec<Requeue>) {
        let observed = namespaces(plan, |queue| !queue.reach.writes_quotas());
        let nudges = nudges.into_iter().filter(|nudge| !observed.contains(nudge.namespace())).collect();
        tokio::join!(
            self.gate_remover.remove(plan),
            self.evictor.evict(plan),
            nudges::send(&self.tools, nudges)
        );
    }

    /// Carries out what `plan` says of sizes of owners. Returns when every call was answered or timed out.
    pub async fn scale(&mut self, plan: &Plan) {
        self.scaler.scale(plan).await;
        self.nudger.promised(plan);
    }

    /// Has Jobs and statuses of QueueJobs say what `plan` does. Returns when every call was answered or timed out.
    pub async fn keep_queue_jobs(&mut self, plan: &Plan) {
        self.queue_jobs.keep(plan).await;
    }

    /// Waits for the answer to an eviction that nobody waits for any more; for ever, if there is none. Says whether the loop
    /// should go on because of it. Nothing is lost if the waiting is given up.
    pub async fn answered(&mut self) -> bool {
        self.evictor.answered().await
    }

    /// Waits until every call was answered or has timed out. None may be begun any more.
    pub async fn finish(&mut self) {
        self.evictor.finish().await;
    }

    /// Quotas that the API server refuses, and why.
    pub fn refused_quotas(&self) -> BTreeMap<QueueName, String> {
        self.quotas.refused()
    }

    /// Quotas that others change faster than they are put right, in words.
    pub fn contested_quotas(&self) -> BTreeMap<QueueName, String> {
        self.quotas.contested()
    }

    /// Queues for which evictions are blocked, and why.
    pub fn blocked_queues(&self, plan: &Plan, particulars: &StatusDetails) -> BTreeMap<QueueName, Blocked> {
        self.evictor.blocked_queues(plan, particulars)
    }

    /// When something that was put off is to be tried again.
    pub fn next_retry(&self) -> Option<Instant> {
        let all = [
            self.ledger.as_ref().and_then(LedgerKeeper::next_retry),
            self.vacancies.next_retry(),
            self.quotas.next_retry(),
            self.limit_ranges.next_retry(),
            self.evictor.next_retry(),
            self.gate_remover.next_retry(),
            self.nudger.next(),
            self.scaler.next_retry(),
            self.queue_jobs.next_retry(),
        ];
        all.into_iter().flatten().min()
    }
}

/// The namespaces of the queues of `plan` that are `wanted`.
fn namespaces(plan: &Plan, wanted: impl Fn(&QueuePlan) -> bool) -> BTreeSet<&Namespace> {
    let queues = plan.queues.iter().filter(|(_, queue)| !queue.is_parent && wanted(queue));
    queues.map(|(name, _)| &name.namespace).collect()
}
