//! The one writer: carries out a plan, in the order that keeps Σ max(hard, charged) ≤ C.
//!
//! Quotas that lower something, then those that only raise, then evictions. Every call has a timeout, none is
//! repeated: what failed is decided on again by the next cycle, from what is then seen. Before every call it is
//! checked that this replica still leads.
//!
//! RBAC: resourcequotas get, create and patch; pods/eviction create; queues/status patch; events create.

mod backoff;
mod eviction_body;
mod evictions;
mod quota_body;
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
use tokio_util::sync::CancellationToken;

pub use statuses::{Report, Statuses};

use crate::announce::Announcer;
use crate::args::Mode;
use crate::health::Beat;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::settings::WriteSettings;
use crate::view::View;
use evictions::Evictor;
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
    quotas: QuotaWriter,
    evictor: Evictor,
}

impl Writer {
    /// A writer that goes as far as `mode`.
    pub fn new(tools: &Tools, mode: Mode, settings: WriteSettings) -> Self {
        Self {
            mode,
            quotas: QuotaWriter::new(tools.clone(), settings),
            evictor: Evictor::new(tools.clone(), settings),
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

    /// Writes the quotas of `plan`. Returns when every call was answered or timed out.
    pub async fn write_quotas(&mut self, plan: &Plan) {
        if self.mode >= Mode::Quota {
            self.quotas.write(plan).await;
        }
    }

    /// Carries out the evictions of `plan`. Returns when every call was answered or timed out.
    pub async fn evict(&mut self, plan: &Plan) {
        if self.mode >= Mode::Full {
            self.evictor.evict(plan).await;
        }
    }

    /// Quotas that the API server refuses, and why.
    pub fn refused_quotas(&self) -> BTreeMap<QueueName, String> {
        self.quotas.refused()
    }

    /// Queues for which evictions are blocked, and why.
    pub fn blocked_queues(&self) -> BTreeMap<QueueName, String> {
        self.evictor.blocked_queues()
    }

    /// When something that was put off is to be tried again.
    pub fn next_retry(&self) -> Option<tokio::time::Instant> {
        [self.quotas.next_retry(), self.evictor.next_retry()].into_iter().flatten().min()
    }
}
