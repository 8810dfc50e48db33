//! What every part of the operator that acts needs.

use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::decisions::Decisions;
use crate::events::EventRecorder;
use crate::health::Heartbeat;
use crate::lease::Leadership;
use crate::metrics::Metrics;
use crate::reclaims::RecentReclaims;
use crate::view::View;

/// What every part of the operator that acts needs.
#[derive(Clone)]
pub struct Context {
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
    pub recorder: EventRecorder,
    /// Where evictions go that statuses list.
    pub reclaims: RecentReclaims,
    /// Where decisions are kept that acted.
    pub decisions: Decisions,
    /// The sign of life of the loop, which waits for the writer.
    pub beat: Heartbeat,
    /// No further call is made once this is canceled.
    pub stop: CancellationToken,
}

impl Context {
    /// Whether another call may be made.
    pub(crate) fn may_write(&self) -> bool {
        self.leadership.is_held() && !self.stop.is_cancelled()
    }
}
