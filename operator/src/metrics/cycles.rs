//! What is reported of the loop.

use prometheus::{Histogram, IntGauge, IntGaugeVec, exponential_buckets};

use super::catalogue::{Catalogue, Unit, label, metric};

/// The metrics of the loop.
#[derive(Clone, Debug)]
pub struct CycleMetrics {
    /// How long a cycle took, from its snapshot to the last answer to its writes.
    pub duration: Histogram,
    /// The time that the engine took for one plan.
    pub plan_duration: Histogram,
    /// When the last cycle ended well, in seconds since 1970.
    pub last_success: IntGauge,
    /// 1 while no quota shrinks and no pod is evicted, by reason.
    pub held: IntGaugeVec,
}

impl CycleMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Cycles");
        Ok(Self {
            duration: into.histogram(
                metric(
                    "quotient_cycle_duration_seconds",
                    Unit::Seconds,
                    &[],
                    "From a cycle's snapshot to the last answer to its quota writes and evictions.",
                ),
                exponential_buckets(0.001, 2.0, 15)?,
            )?,
            plan_duration: into.histogram(
                metric(
                    "quotient_plan_duration_seconds",
                    Unit::Seconds,
                    &[],
                    "The time that the engine took for one plan.",
                ),
                exponential_buckets(0.000_1, 2.0, 15)?,
            )?,
            last_success: into.gauge(metric(
                "quotient_cycle_last_success_timestamp_seconds",
                Unit::Timestamp,
                &[],
                "The time at which the last cycle of this replica as leader ended. 0 if it has not led.",
            ))?,
            held: into.whole_gauges(metric(
                "quotient_reclaims_held",
                Unit::Truth,
                &[label("reason", "`CapacityUntrusted`, `ViewStale`, `QuotaControllerSilent`")],
                "1 while evictions are held back, by reason; with the first two no quota shrinks either.",
            ))?,
        })
    }
}
