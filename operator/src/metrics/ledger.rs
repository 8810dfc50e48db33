//! What is reported of the ledger.

use prometheus::{IntCounter, IntCounterVec, IntGauge};

use super::catalogue::{label, metrics};

metrics! {
    /// The metrics of the ledger.
    pub struct LedgerMetrics: registered {
        pub conflicts: IntCounter = "quotient_ledger_conflicts_total", Count, [] =>
            "Writes of the ledger that failed because another writer was faster. Each drops one cycle.";
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
