//! When the view of the cluster is not trusted enough to shrink quotas or to evict pods.
//!
//! A share that shrinks and a pod that is evicted cannot be given back. So before either, two questions are asked of
//! the view that they would come from: did much of the capacity vanish at one stroke, and has every part of the
//! cluster been heard of lately? While one of the answers is bad, the snapshot says so, and the plan made from it
//! takes nothing.
//!
//! **Architecture invariant:** what is remembered here only ever holds something back, for a bounded time after the
//! view is good. A fresh process trusts its first full lists, if they show what the quotas that stand were made from.

mod capacity;
mod enforcement;

use std::time::Duration;

use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{ReclaimGate, Snapshot};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::metrics::Metrics;
use crate::offered::{offered, promised};
use crate::settings::GuardSettings;
use crate::watch::{FullList, Signs, WatchLiveness};
use capacity::{CapacityGuard, CapacityTrust};
use enforcement::EnforcementGuard;

/// How often it is looked whether what holds everything back is over.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The reasons there are.
const REASONS: [ShortReason; 2] = [ShortReason::CapacityUntrusted, ShortReason::ViewStale];

/// Judges views.
#[derive(Debug)]
pub struct Guards {
    capacity: CapacityGuard,
    enforcement: EnforcementGuard,
    liveness: WatchLiveness,
    nodes: FullList,
    metrics: Metrics,
    held: ReclaimGate,
}

impl Guards {
    /// Guards that trust the first view they are shown.
    pub fn new(settings: GuardSettings, signs: &Signs, metrics: &Metrics) -> Self {
        Self {
            capacity: CapacityGuard::new(settings.capacity_drop_percent, settings.capacity_grace),
            enforcement: EnforcementGuard::default(),
            liveness: signs.liveness.clone(),
            nodes: signs.nodes.clone(),
            metrics: metrics.clone(),
            held: ReclaimGate::Allowed,
        }
    }

    /// Whether anything may be taken on the strength of `snapshot`, which shows the cluster as it is seen now, where so many
    /// quotas have been seen to take effect.
    pub fn reclaim_gate(&mut self, snapshot: &Snapshot, enforced: u64) -> ReclaimGate {
        let proven = self.enforcement.is_proven(snapshot, enforced, Instant::now());
        match self.trust(snapshot) {
            ReclaimGate::Allowed if !proven => ReclaimGate::EvictionsWait(ShortReason::QuotaControllerSilent),
            gate => gate,
        }
    }

    /// Shows whether evictions wait for the quota controller.
    pub fn show_unproven(&self, waits: bool) {
        let reason = ShortReason::QuotaControllerSilent.name();
        self.metrics.cycles.held.with_label_values(&[reason]).set(i64::from(waits));
    }

    fn trust(&mut self, snapshot: &Snapshot) -> ReclaimGate {
        let trust =
            self.capacity.check(offered(snapshot), &promised(snapshot), self.nodes.counts(), Instant::now());
        if let CapacityTrust::Doubted { news: Some(loss) } = &trust {
            warn!(reason = %ShortReason::CapacityUntrusted, "the nodes offer {loss}: nothing is taken until that is certain");
            self.nodes.ask();
        }
        let silent = self.liveness.failures();
        let held = if trust != CapacityTrust::Trusted {
            ReclaimGate::Held(ShortReason::CapacityUntrusted)
        } else if silent.is_empty() {
            ReclaimGate::Allowed
        } else {
            ReclaimGate::Held(ShortReason::ViewStale)
        };
        if held != self.held {
            match held {
                ReclaimGate::Held(ShortReason::ViewStale) => {
                    warn!(reason = %ShortReason::ViewStale, "the view is old, so nothing is taken: {}", silent.join(", "));
                }
                ReclaimGate::Held(_) => {}
                _ => info!("what is seen is trusted again"),
            }
            self.held = held;
        }
        for reason in REASONS {
            let holds = held == ReclaimGate::Held(reason);
            self.metrics.cycles.held.with_label_values(&[reason.name()]).set(i64::from(holds));
        }
        held
    }

    /// When to check again although nothing changes; none while nothing is held.
    pub fn next_look(&self) -> Option<Instant> {
        self.held.held().and_then(|_| Instant::now().checked_add(POLL_INTERVAL))
    }

    /// Shows when each kind was heard of last; `now` is the time since 1970.
    pub fn show_pulses(&self, now: Duration) {
        for (kind, silence) in self.liveness.silences() {
            let heard = now.saturating_sub(silence).as_secs_f64();
            self.metrics.watches.heard.with_label_values(&[kind]).set(heard);
        }
    }
}
