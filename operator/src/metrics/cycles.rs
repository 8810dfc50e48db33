//! What is reported of the loop.

use prometheus::{Histogram, IntGauge, IntGaugeVec};

use super::catalogue::{label, metrics};

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
