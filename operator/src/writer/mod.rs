//! The one writer: carries out a plan, in the order that keeps Σ max(hard, charged) ≤ C.
//!
//! The ledger, then default requests, quotas that lower something, then those that only raise, then evictions, and beside
//! them nudges; then sizes of owners that yield inside their queue; at last the Jobs of QueueJobs. Every call has a timeout,
//! none is repeated: what failed is decided on again by the next
//! cycle, from what is then seen. Before every call it is checked that this replica still leads.
//!
//! RBAC, cluster-wide: `resourcequotas` create; get and patch of the one named `quotient`; `limitranges`
//! create; patch and delete of the one named `quotient`; `pods/eviction`
//! create; `queues.quotient.dev/status` patch; `replicasets.apps`, `statefulsets.apps` and `jobs.batch` patch, for one
//! annotation; `events.events.k8s.io` create. For sizes: `deployments.apps`, `replicasets.apps`, `statefulsets.apps` and
//! `jobs.batch` get and patch; `pods` patch, for one annotation. For QueueJobs: `queuejobs.quotient.dev` get, list, watch and delete,
//! `queuejobs.quotient.dev/status` patch; `jobs.batch` get, create, patch and delete.

mod again;
mod backoff;
mod blocked;
mod drift;
mod eviction_body;
mod evictions;
mod flights;
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

use std::collections::BTreeMap;

use kube::Client;
use quotient_engine::ledger::Ledger;
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::Snapshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use blocked::Blocked;
pub use drift::Change;
pub use nudges::Nudge;
pub(crate) use quota_call::listed;
pub(crate) use retry::Retries;
pub use statuses::{Report, Statuses};

use crate::announce::Announcer;
use crate::args::Mode;
use crate::clock::Clock;
use crate::health::Beat;
use crate::lease::Leadership;
use crate::ledger::{Dropped, LedgerKeeper, LedgerSettings, Vacancies};
use crate::metrics::Metrics;
use crate::particulars::Particulars;
use crate::settings::WriteSettings;
use crate::status::RecentReclaims;
use crate::view::View;
use evictions::Evictor;
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
    pub announcer: Announcer,
    /// Where evictions go that statuses list.
    pub reclaims: RecentReclaims,
    /// The sign of life of the loop, which waits for the writer.
    pub beat: Beat,
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
    mode: Mode,
    tools: Tools,
    ledger: LedgerKeeper,
    vacancies: Vacancies,
    quotas: QuotaWriter,
    limit_ranges: LimitRangeWriter,
    evictor: Evictor,
    nudger: Nudger,
    scaler: Scaler,
    queue_jobs: QueueJobWriter,
}

impl Writer {
    /// A writer that goes as far as `mode`.
    pub fn new(tools: &Tools, mode: Mode, settings: WriteSettings, ledger: LedgerSettings) -> Self {
        Self {
            mode,
            tools: tools.clone(),
            ledger: LedgerKeeper::new(tools.clone(), ledger),
            vacancies: Vacancies::new(tools.clone()),
            quotas: QuotaWriter::new(tools.clone(), settings),
            limit_ranges: LimitRangeWriter::new(tools.clone(), settings),
            evictor: Evictor::new(tools.clone(), settings),
            nudger: Nudger::default(),
            scaler: Scaler::new(tools.clone()),
            queue_jobs: QueueJobWriter::new(tools.clone(), mode),
        }
    }

    /// How far it goes.
    pub const fn mode(&self) -> Mode {
        self.mode
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
        if self.mode >= Mode::Quota {
            self.ledger.ready().await?;
            self.vacancies.confirm(self.ledger.version().as_ref()).await;
        }
        Ok(())
    }

    /// To be called when this replica does not lead: what it knows of the ledger is stale from now on.
    pub fn follow(&mut self) {
        self.ledger.forget();
    }

    /// Writes down what a plan grants. Only then may it be carried out.
    ///
    /// # Errors
    ///
    /// The plan must be dropped.
    pub async fn grant(&mut self, next: Option<Ledger>) -> Result<(), Dropped> {
        if self.mode >= Mode::Quota { self.ledger.write(next).await } else { Ok(()) }
    }

    /// The owners in `snapshot` that are to be told that there is room for their pods. Each counts as told.
    pub fn nudges(&mut self, snapshot: &Snapshot) -> Vec<Nudge> {
        if self.mode < Mode::Quota {
            return Vec::new();
        }
        let view = &self.tools.view;
        let charged = |namespace: &_| {
            let observed = view.read(|index| index.observed_quota(namespace).cloned());
            observed.map(|observed| observed.charged.clone()).unwrap_or_default()
        };
        self.nudger.due(snapshot, charged, Instant::now())
    }

    /// Writes the quotas of `plan`. Returns when every call was answered or timed out.
    pub async fn write_quotas(&mut self, plan: &Plan) {
        if self.mode >= Mode::Quota {
            // Before the quotas that refuse what they make up for.
            self.limit_ranges.settle(plan).await;
            self.quotas.write(plan).await;
            self.nudger.risen(self.quotas.take_risen());
            recounts::send(&self.tools, self.nudger.take_recounts()).await;
        }
    }

    /// Carries out the evictions of `plan`, and `nudges` beside them. Returns when every nudge was answered or timed out, and
    /// every eviction was, or has been waited for long enough: see [`Writer::answered`].
    pub async fn evict_and_nudge(&mut self, plan: &Plan, nudges: Vec<Nudge>) {
        let evictions = async {
            if self.mode >= Mode::Full {
                self.evictor.evict(plan).await;
            }
        };
        tokio::join!(evictions, nudges::send(&self.tools, nudges));
    }

    /// Carries out what `plan` says of sizes of owners. Returns when every call was answered or timed out.
    pub async fn scale(&mut self, plan: &Plan) {
        if self.mode >= Mode::Full {
            self.scaler.scale(plan).await;
            self.nudger.promised(plan);
        }
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

    /// Queues for which evictions are blocked, and why; none where nothing is evicted anyway.
    pub fn blocked_queues(&self, plan: &Plan, particulars: &Particulars) -> BTreeMap<QueueName, Blocked> {
        if self.mode < Mode::Full {
            return BTreeMap::new();
        }
        self.evictor.blocked_queues(plan, particulars)
    }

    /// When something that was put off is to be tried again.
    pub fn next_retry(&self) -> Option<Instant> {
        let all = [
            self.ledger.next_retry(),
            self.vacancies.next_retry(),
            self.quotas.next_retry(),
            self.limit_ranges.next_retry(),
            self.evictor.next_retry(),
            self.nudger.next(),
            self.scaler.next_retry(),
            self.queue_jobs.next_retry(),
        ];
        all.into_iter().flatten().min()
    }
}
