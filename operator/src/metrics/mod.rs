//! Every number that the operator reports, each declared once.
//!
//! Names and labels are part of the interface: dashboards and alerts use them, and `docs/reference/metrics.md` is made
//! from the declarations. Units are base units (seconds, bytes, cores, devices). No label ever carries a pod, a job or
//! a message.

mod activity;
mod catalog;
mod computed;
mod process;
mod queues;
mod standard;

use prometheus::{GaugeVec, IntGauge, IntGaugeVec, Registry};
use quotient_engine::amounts::Amounts;
use quotient_engine::snapshot::Mode;

pub use activity::{CycleMetrics, EvictionMetrics, LedgerMetrics, WatchMetrics, WriteMetrics};
pub use catalog::{Catalog, Declaration, Kind, Label, Unit};
pub use queues::QueueMetrics;
pub use standard::{CycleResult, StandardMetrics};

use catalog::{RESOURCE, base_units, label, metrics};
use process::Process;

metrics! {
    /// What is reported of the operator itself.
    pub struct OperatorMetrics: registered {
        build: IntGaugeVec = "quotient_build_info", Info, [label("version", "")] =>
            "The version that runs.";
        mode: IntGaugeVec = "quotient_mode_info", Info, [label("mode", "`Observe`, `Quota`, `Full`")] =>
            "How far the operator goes.";
        ceiling: GaugeVec = "quotient_capacity_ceiling", Amount, [RESOURCE] =>
            "The capacity that --capacity states, such as the ceiling of an autoscaler. No series if it is Nodes.";
        pub leader: IntGauge = "quotient_leader", Truth, [] =>
            "1 while this replica leads.";
    }
}

/// The metrics, all registered.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// The operator itself.
    pub operator: OperatorMetrics,
    /// What each queue deserves, has and wants.
    pub queues: QueueMetrics,
    /// Evictions of whatever queue's pods that were put off, or were more than that.
    pub evictions: EvictionMetrics,
    /// The loop.
    pub cycles: CycleMetrics,
    /// All other writes.
    pub writes: WriteMetrics,
    /// The ledger.
    pub ledger: LedgerMetrics,
    /// The watches.
    pub watches: WatchMetrics,
    /// What dashboards for operators look for.
    pub standard: StandardMetrics,
}

/// Every metric that is declared, in order.
///
/// # Errors
///
/// When two metrics contradict each other.
pub fn declarations() -> Result<Vec<Declaration>, prometheus::Error> {
    let registry = Registry::new();
    let mut catalog = Catalog::new(&registry);
    Metrics::declare(&mut catalog)?;
    Ok(catalog.declarations().to_vec())
}

/// Has `gauge` show a count.
pub(crate) fn show_count(gauge: &IntGauge, count: usize) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}

/// Why a ledger is rebuilt.
const REBUILDS: [&str; 3] = ["Missing", "Unreadable", "Older"];

/// What other writers do to quotas.
const CHANGES: [&str; 2] = ["Edited", "Deleted"];

impl Metrics {
    /// Registers everything with `registry`.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        Self::declare(&mut Catalog::new(registry))
    }

    fn declare(into: &mut Catalog<'_>) -> Result<Self, prometheus::Error> {
        let metrics = Self {
            operator: OperatorMetrics::declare(into.under("The operator"))?,
            queues: QueueMetrics::declare(into)?,
            evictions: EvictionMetrics::declare(into.under("Evictions"))?,
            cycles: CycleMetrics::declare(into.under("Cycles"))?,
            writes: WriteMetrics::declare(into.under("Writes"))?,
            ledger: LedgerMetrics::declare(into.under("The ledger"))?,
            watches: WatchMetrics::declare(into.under("Watches"))?,
            standard: StandardMetrics::declare(into.under("Standard names"))?,
        };
        Process::declare(into.under("The process"))?;
        metrics.begin();
        Ok(metrics)
    }

    /// Shows what is known at the start, and begins counters at 0, so that the first one is seen to happen.
    fn begin(&self) {
        self.operator.build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        for change in CHANGES {
            self.writes.quota_repairs.with_label_values(&[change]);
        }
        for reason in REBUILDS {
            self.ledger.rebuilds.with_label_values(&[reason]);
        }
        self.standard.begin();
    }

    /// Shows what --capacity states.
    pub fn grows_to(&self, ceiling: &Amounts) {
        for (resource, amount) in ceiling.iter() {
            self.operator.ceiling.with_label_values(&[resource.name()]).set(base_units(resource, amount));
        }
    }

    /// Says how far the operator goes.
    pub fn runs_in(&self, mode: Mode) {
        self.operator.mode.with_label_values(&[mode.name()]).set(1);
    }

    /// Counts one write of `kind`.
    pub fn wrote(&self, kind: &str, result: &str) {
        self.writes.all.with_label_values(&[kind, result]).inc();
    }
}
