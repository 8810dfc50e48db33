//! What is reported of what is written to the API server.

use prometheus::{Histogram, IntCounter, IntCounterVec, IntGauge, exponential_buckets};

use quotient_engine::plan::Scaling;
use quotient_engine::reasons::ScalingReason;

use super::catalogue::{Catalogue, Unit, label, metric};

/// The metrics of evictions that are not counted by queue. The others: [`QueueGauges::evicted`](super::QueueGauges::evicted).
#[derive(Clone, Debug)]
pub struct EvictionMetrics {
    /// Pods past their deadline that were deleted without grace.
    pub forced: IntCounter,
    /// Due evictions that the last cycle left to a later one, because a rate bounds them.
    pub postponed: IntGauge,
}

impl EvictionMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Evictions");
        Ok(Self {
            forced: into.counter(metric(
                "quotient_evictions_forced_total",
                Unit::Count,
                &[],
                "Pods past their deadline that were deleted without grace.",
            ))?,
            postponed: into.gauge(metric(
                "quotient_evictions_postponed",
                Unit::Count,
                &[],
                "Due evictions that the last cycle left to a later one, because a rate bounds them.",
            ))?,
        })
    }
}

/// The metrics of owners that yield to others of their queue.
#[derive(Clone, Debug)]
pub struct ScalingMetrics {
    /// Owners whose size was changed, by why.
    pub owners: IntCounterVec,
    /// Pods that went with it.
    pub pods: IntCounter,
    /// Due scalings that the last cycle left to a later one: their number is bounded, or one was refused a moment ago.
    pub postponed: IntGauge,
}

impl ScalingMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Priority inside a queue");
        let reasons = [ScalingReason::Outranked, ScalingReason::GangIncomplete, ScalingReason::Restored];
        let metrics = Self {
            owners: into.counters(metric(
                "quotient_scalings_total",
                Unit::Count,
                &[label("reason", "`Outranked`, `GangIncomplete`, `Restored`")],
                "Workloads that were scaled down for other pods of their queue, or up again.",
            ))?,
            pods: into.counter(metric(
                "quotient_scaled_pods_total",
                Unit::Count,
                &[],
                "Pods that ended because their workload was scaled down for others of its queue.",
            ))?,
            postponed: into.gauge(metric(
                "quotient_scalings_postponed",
                Unit::Count,
                &[],
                "Due scalings that the last cycle left to a later one, because there were too many or the API server refused them.",
            ))?,
        };
        for reason in reasons {
            // Begun at 0, so that the first one is seen to happen.
            metrics.owners.with_label_values(&[reason.name()]);
        }
        Ok(metrics)
    }

    /// Counts one scaling that was carried out.
    pub fn scaled(&self, scaling: &Scaling) {
        self.owners.with_label_values(&[scaling.reason.name()]).inc();
        self.pods.inc_by(u64::try_from(scaling.pods.len()).unwrap_or(u64::MAX));
    }
}

/// The metrics of all other writes.
#[derive(Clone, Debug)]
pub struct WriteMetrics {
    /// How long it took from the answer to a quota's write until admission enforced it.
    pub quota_in_force: Histogram,
    /// Quotas that were restored after an edit, by the kind of edit.
    pub quota_repairs: IntCounterVec,
    /// Owners that were told that there is room again for refused pods, by kind.
    pub requeues: IntCounterVec,
    /// Writes to the API server, by kind and result.
    pub all: IntCounterVec,
    /// Events that were dropped because too many waited.
    pub events_dropped: IntCounter,
}

impl WriteMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Writes");
        let metrics = Self {
            all: into.counters(metric(
                "quotient_api_writes_total",
                Unit::Count,
                &[
                    label("kind", "`resourcequota`, `eviction`, `queue_status`, `ledger`, `event`, …"),
                    label("result", "`done`, or what went wrong: `forbidden`, `conflict`, `timeout`, …"),
                ],
                "Writes to the API server, without those of the Lease.",
            ))?,
            quota_in_force: into.histogram(
                metric(
                    "quotient_quota_enforced_seconds",
                    Unit::Seconds,
                    &[],
                    "From the answer to a quota's write until its status showed that admission enforces it.",
                ),
                exponential_buckets(0.005, 2.0, 14)?,
            )?,
            quota_repairs: into.counters(metric(
                "quotient_quota_repairs_total",
                Unit::Count,
                &[label("change", "`Edited`, `Deleted`")],
                "Quotas that were restored after another writer changed them, by change.",
            ))?,
            requeues: into.counters(metric(
                "quotient_requeues_total",
                Unit::Count,
                &[label("kind", "`DaemonSet`, `Job`, `ReplicaSet`, `StatefulSet`")],
                "Workloads that Quotient annotated because there is room again for their rejected pods.",
            ))?,
            events_dropped: into.counter(metric(
                "quotient_events_dropped_total",
                Unit::Count,
                &[],
                "Events that were not written because too many were waiting.",
            ))?,
        };
        for change in ["Edited", "Deleted"] {
            // Begun at 0, so that the first one is seen to happen.
            metrics.quota_repairs.with_label_values(&[change]);
        }
        Ok(metrics)
    }
}
