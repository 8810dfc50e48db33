//! What is reported of the ledger.

use prometheus::{IntCounter, IntCounterVec, IntGauge};

use super::catalogue::{Catalogue, Unit, label, metric};

/// The metrics of the ledger.
#[derive(Clone, Debug)]
pub struct LedgerMetrics {
    /// Writes that another writer came before.
    pub conflicts: IntCounter,
    /// How often it was made up from quotas, by why.
    pub rebuilds: IntCounterVec,
    /// Its size as stored, in bytes.
    pub size: IntGauge,
    /// The namespaces in it.
    pub entries: IntGauge,
    /// Its generation.
    pub generation: IntGauge,
}

/// Why a ledger is made up anew.
const REBUILDS: [&str; 3] = ["Missing", "Unreadable", "Older"];

impl LedgerMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("The ledger");
        let metrics = Self {
            conflicts: into.counter(metric(
                "quotient_ledger_conflicts_total",
                Unit::Count,
                &[],
                "Writes of the ledger that failed because another writer was faster. Each drops one cycle.",
            ))?,
            rebuilds: into.counters(metric(
                "quotient_ledger_rebuilds_total",
                Unit::Count,
                &[label("reason", "`Missing`, `Unreadable`, `Older` than the quotas")],
                "How many times the ledger was rebuilt from the quotas. No quota rises until all have a stamp of the new ledger.",
            ))?,
            size: into.gauge(metric(
                "quotient_ledger_size_bytes",
                Unit::Bytes,
                &[],
                "The size of the ledger at its last write. A ConfigMap holds at most 1048576.",
            ))?,
            entries: into.gauge(metric(
                "quotient_ledger_entries",
                Unit::Count,
                &[],
                "The namespaces with a grant.",
            ))?,
            generation: into.gauge(metric(
                "quotient_ledger_generation",
                Unit::Count,
                &[],
                "The generation of the ledger that this replica knows. Each write of the ledger raises it.",
            ))?,
        };
        for reason in REBUILDS {
            // Begun at 0, so that the first one is seen to happen.
            metrics.rebuilds.with_label_values(&[reason]);
        }
        Ok(metrics)
    }
}
