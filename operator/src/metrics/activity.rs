//! What is reported of the operator's activity beside queues: its cycles, its writes, its ledger and its watches.

use prometheus::{GaugeVec, Histogram, IntCounter, IntCounterVec, IntGauge, IntGaugeVec};

use super::catalog::{Label, label, metrics};

metrics! {
    /// The metrics of the loop.
    pub struct CycleMetrics: registered {
        pub duration: Histogram = "quotient_cycle_duration_seconds", Seconds, [], doubling(0.001, 15) =>
            "From a cycle's snapshot to the last answer to its quota writes and evictions.";
        pub plan_duration: Histogram = "quotient_plan_duration_seconds", Seconds, [], doubling(0.000_1, 15) =>
            "The time that the engine took for one plan.";
        pub last_success: IntGauge = "quotient_cycle_last_success_timestamp_seconds", Timestamp, [] =>
            "The time at which the last cycle of this replica as leader ended. 0 if it has not led.";
        pub held: IntGaugeVec = "quotient_reclaims_held", Truth,
            [label("reason", "`CapacityUntrusted`, `ViewStale`, `QuotaControllerSilent`")] =>
            "1 while evictions are held back, by reason; with the first two no quota shrinks either.";
    }
}

metrics! {
    /// The metrics of evictions that are not counted by queue. Those that are: [`QueueMetrics`](super::QueueMetrics).
    pub struct EvictionMetrics: registered {
        pub forced: IntCounter = "quotient_evictions_forced_total", Count, [] =>
            "Pods past their deadline that were deleted without grace.";
        pub postponed: IntGauge = "quotient_evictions_postponed", Count, [] =>
            "Due evictions that the last cycle left to a later one, because a rate bounds them.";
    }
}

metrics! {
    /// The metrics of all other writes.
    pub struct WriteMetrics: registered {
        pub all: IntCounterVec = "quotient_api_writes_total", Count,
            [
                label("kind", "`resourcequota`, `eviction`, `requeue`, `scale`, `queue_status`, `ledger`, `event`, …"),
                label("result", "`done`, or what went wrong: `forbidden`, `conflict`, `timeout`, …"),
            ] =>
            "Writes to the API server, without those of the Lease.";
        pub quota_in_force: Histogram = "quotient_quota_enforced_seconds", Seconds, [], doubling(0.005, 14) =>
            "From the answer to a quota's write until its status showed that admission enforces it.";
        pub quota_repairs: IntCounterVec = "quotient_quota_repairs_total", Count,
            [label("change", "`Edited`, `Deleted`")] =>
            "Quotas that were restored after another writer changed them, by change.";
        pub scalings_postponed: IntGauge = "quotient_scalings_postponed", Count, [] =>
            "Due scalings that the last cycle left to a later one, because there were too many or the API server refused them.";
        pub events_dropped: IntCounter = "quotient_events_dropped_total", Count, [] =>
            "Events that were not written because too many were waiting.";
    }
}

metrics! {
    /// The metrics of the ledger.
    pub struct LedgerMetrics: registered {
        pub conflicts: IntCounter = "quotient_ledger_conflicts_total", Count, [] =>
            "Cycles that were dropped because another writer had changed the ledger.";
        pub rebuilds: IntCounterVec = "quotient_ledger_rebuilds_total", Count,
            [label("reason", "`Missing`, `Unreadable`, `Older` than the quotas")] =>
            "How many times the ledger was rebuilt from the quotas. No quota rises until all have a stamp of the new ledger.";
        pub size: IntGauge = "quotient_ledger_size_bytes", Bytes, [] =>
            "The size of the ledger at its last write. A ConfigMap holds at most 1048576.";
        pub entries: IntGauge = "quotient_ledger_entries", Count, [] =>
            "The namespaces with a grant.";
        pub generation: IntGauge = "quotient_ledger_generation", Count, [] =>
            "The generation of the ledger that this replica knows. Each write of the ledger raises it.";
    }
}

const KIND: [Label; 1] = [label("kind", "`pods`, `nodes`, …")];

metrics! {
    /// The metrics of the watches, by kind of object.
    pub struct WatchMetrics: registered {
        pub errors: IntCounterVec = "quotient_watch_errors_total", Count, KIND =>
            "Errors of watches. A watch recovers by itself.";
        pub silences: IntCounterVec = "quotient_watch_silences_total", Count, KIND =>
            "Watches without any event for --watch-silence-seconds. Each was opened again.";
        pub undecodable: IntCounterVec = "quotient_watch_undecodable_objects_total", Count, KIND =>
            "Objects that a list or a watch showed and that cannot be decoded. The log names each, and the operator skips it.";
        pub heard: GaugeVec = "quotient_watch_heard_timestamp_seconds", Timestamp, KIND =>
            "The time of the last event for this kind of object. Bookmarks come about every minute.";
        pub objects: IntGaugeVec = "quotient_index_objects", Count, KIND =>
            "Objects that the index keeps.";
    }
}
