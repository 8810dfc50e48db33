//! The one writer: carries out a plan, in the order that keeps Σ max(hard, charged) ≤ C.
//!
//! Quotas that lower something, then those that only raise, then evictions, and beside them nudges. Every call has a
//! timeout, none is repeated: what failed is decided on again by the next cycle, from what is then seen. Before every
//! call it is checked that this replica still leads.
//!
//! RBAC, cluster-wide: `resourcequotas` create; get, patch and delete of the one named `quotient`; `pods/eviction`
//! create; `queues.quotient.dev/status` patch; `replicasets.apps`, `statefulsets.apps` and `jobs.batch` patch, for one
//! annotation; `events.events.k8s.io` create.

mod backoff;
mod blocked;
mod eviction_body;
mod evictions;
mod forced;
mod lacking;
mod nudges;
mod orphans;
mod quota_body;
mod quota_call;
mod quotas;
mod rate;
mod retry;
mod status_changes;
mod statuses;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::BTreeMap;

use kube::Client;
use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::Snapshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use blocked::Blocked;
pub use nudges::Nudge;
pub use statuses::{Report, Statuses};

use crate::announce::Announcer;
use crate::args::Mode;
use crate::health::Beat;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::particulars::Particulars;
use crate::settings::WriteSettings;
use crate::view::View;
use evictions::Evictor;
use nudges::Nudger;
use orphans::OrphanWriter;
use quotas::QuotaWriter;

/// What every part of the writer needs.
#[derive(Clone)]
pub struct Tools {
    /// The connection.
    pub client: Client,
    /// Where replies go.
    pub view: View,
    /// Whether anything may be written.
    pub leadership: Leadership,
    /// Where writes are counted.
    pub metrics: Metrics,
    /// Where events go.
    pub announcer: Announcer,
    /// The sign of life of the loop, which waits for the writer.
    pub beat: Beat,
    /// No further call is made once this is cancelled.
    pub stop: CancellationToken,
}

impl Tools {
    /// Whether another call may be made.
    fn may_write(&self) -> bool {
        self.leadership.is_held() && !self.stop.is_cancelled()
    }
}

/// Carries out plans, one after the other.
pub struct Writer {
    mode: Mode,
    tools: Tools,
    quotas: QuotaWriter,
    orphans: OrphanWriter,
    evictor: Evictor,
    nudger: Nudger,
}

impl Writer {
    /// A writer that goes as far as `mode`.
    pub fn new(tools: &Tools, mode: Mode, settings: WriteSettings) -> Self {
        Self {
            mode,
            tools: tools.clone(),
            quotas: QuotaWriter::new(tools.clone(), settings),
            orphans: OrphanWriter::new(tools.clone(), settings),
            evictor: Evictor::new(tools.clone(), settings),
            nudger: Nudger::default(),
        }
    }

    /// How far it goes.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// To be called before every snapshot: forgets what was only assumed, and is stale by now.
    pub fn before_snapshot(&mut self) {
        self.evictor.forget_assumed();
        self.quotas.note_enforced();
    }

    /// The owners in `snapshot` that are to be told that there is room for their pods. Each counts as told.
    pub fn nudges(&mut self, snapshot: &Snapshot) -> Vec<Nudge> {
        if self.mode < Mode::Quota {
            return Vec::new();
        }
        self.nudger.due(snapshot, Instant::now())
    }

    /// Writes the quotas of `plan`. Returns when every call was answered or timed out.
    pub async fn write_quotas(&mut self, plan: &Plan) {
        if self.mode >= Mode::Quota {
            // What Queues left behind only ever falls.
            self.orphans.settle(plan).await;
            self.quotas.write(plan).await;
            self.nudger.risen(self.quotas.take_risen());
        }
    }

    /// Carries out the evictions of `plan`, and `nudges` beside them. Returns when every call was answered or timed
    /// out.
    pub async fn evict_and_nudge(&mut self, plan: &Plan, nudges: Vec<Nudge>) {
        let evictions = async {
            if self.mode >= Mode::Full {
                self.evictor.evict(plan).await;
            }
        };
        tokio::join!(evictions, nudges::send(&self.tools, nudges));
    }

    /// Quotas that the API server refuses, and why.
    pub fn refused_quotas(&self) -> BTreeMap<QueueName, String> {
        self.quotas.refused()
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
        let writes = [self.quotas.next_retry(), self.orphans.next_retry()];
        let others = [self.evictor.next_retry(), self.nudger.next()];
        writes.into_iter().chain(others).flatten().min()
    }
}
