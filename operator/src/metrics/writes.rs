//! What is reported of what is written to the API server.

use prometheus::{Histogram, IntCounter, IntCounterVec, IntGauge};
use quotient_engine::plan::Scaling;

use super::catalogue::{label, metrics};

metrics! {
    /// The metrics of evictions that are not counted by queue. Those that are: [`Evictions`](super::Evictions).
    pub struct EvictionMetrics: registered {
        pub forced: IntCounter = "quotient_evictions_forced_total", Count, [] =>
            "Pods past their deadline that were deleted without grace.";
        pub postponed: IntGauge = "quotient_evictions_postponed", Count, [] =>
            "Due evictions that the last cycle left to a later one, because a rate bounds them.";
    }
}

metrics! {
    /// The metrics of owners that yield to others of their queue.
    pub struct ScalingMetrics: registered {
        pub owners: IntCounterVec = "quotient_scalings_total", Count,
            [label("reason", "`Outranked`, `GangIncomplete`, `Restored`")] =>
            "Workloads that were scaled down for other pods of their queue, or up again.";
        pub pods: IntCounter = "quotient_scaled_pods_total", Count, [] =>
            "Pods that ended because their workload was scaled down for others of its queue.";
        pub postponed: IntGauge = "quotient_scalings_postponed", Count, [] =>
            "Due scalings that the last cycle left to a later one, because there were too many or the API server refused them.";
    }
}

impl ScalingMetrics {
    /// Counts one scaling that was carried out.
    pub fn scaled(&self, scaling: &Scaling) {
        self.owners.with_label_values(&[scaling.reason.name()]).inc();
        self.pods.inc_by(u64::try_from(scaling.pods.len()).unwrap_or(u64::MAX));
    }
}

metrics! {
    /// The metrics of all other writes.
    pub struct WriteMetrics: registered {
        pub all: IntCounterVec = "quotient_api_writes_total", Count,
            [
                label("kind", "`resourcequota`, `eviction`, `queue_status`, `ledger`, `event`, …"),
                label("result", "`done`, or what went wrong: `forbidden`, `conflict`, `timeout`, …"),
            ] =>
            "Writes to the API server, without those of the Lease.";
        pub quota_in_force: Histogram = "quotient_quota_enforced_seconds", Seconds, [], doubling(0.005, 14) =>
            "From the answer to a quota's write until its status showed that admission enforces it.";
        pub quota_repairs: IntCounterVec = "quotient_quota_repairs_total", Count,
            [label("change", "`Edited`, `Deleted`")] =>
            "Quotas that were restored after another writer changed them, by change.";
        pub requeues: IntCounterVec = "quotient_requeues_total", Count,
            [label("kind", "`DaemonSet`, `Job`, `ReplicaSet`, `StatefulSet`")] =>
            "Workloads that Quotient annotated because there is room again for their rejected pods.";
        pub events_dropped: IntCounter = "quotient_events_dropped_total", Count, [] =>
            "Events that were not written because too many were waiting.";
    }
}
