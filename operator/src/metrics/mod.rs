//! Every number that the operator reports, each declared once.
//!
//! Names and labels are part of the interface: dashboards and alerts use them, and `docs/reference/metrics.md` is made
//! from the declarations. Units are base units (seconds, bytes, cores, devices). No label ever carries a pod, a job or
//! a message.

mod catalogue;
mod cycles;
mod ledger;
mod process;
mod queues;
mod reference;
mod standard;
mod watches;
mod writes;

use prometheus::{GaugeVec, IntGauge, IntGaugeVec, Registry};
use quotient_engine::amounts::Amounts;
use quotient_engine::snapshot::Mode;

pub use catalogue::{Catalogue, Declaration, Kind, Label, Unit};
pub use cycles::CycleMetrics;
pub use ledger::LedgerMetrics;
pub use queues::{ConditionGauges, QueueGauges, Terms};
pub use reference::{declarations, reference};
pub use standard::{CycleResult, StandardMetrics};
pub use watches::WatchMetrics;
pub use writes::{EvictionMetrics, ScalingMetrics, WriteMetrics};

use catalogue::{RESOURCE, base_units, label, metric};
use process::Process;

/// The metrics, all registered.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// 1 while this replica leads.
    pub leader: IntGauge,
    /// What each queue deserves, has and wants.
    pub queues: QueueGauges,
    /// Evictions of whatever queue's pods that were put off, or were more than that.
    pub evictions: EvictionMetrics,
    /// Owners that yield inside their queue.
    pub scalings: ScalingMetrics,
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
    /// 1 for the mode that the operator runs in.
    mode: IntGaugeVec,
    /// What an autoscaler grows the nodes to.
    ceiling: GaugeVec,
}

impl Metrics {
    /// Registers everything with `registry`.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        Self::declare(&mut Catalogue::new(registry))
    }

    fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("The operator");
        let build = into.whole_gauges(metric(
            "quotient_build_info",
            Unit::Info,
            &[label("version", "")],
            "The version that runs.",
        ))?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        let metrics = Self {
            mode: into.whole_gauges(metric(
                "quotient_mode_info",
                Unit::Info,
                &[label("mode", "`Observe`, `Quota`, `Full`")],
                "How far the operator goes.",
            ))?,
            ceiling: into.gauges(metric(
                "quotient_capacity_ceiling",
                Unit::Amount,
                &[RESOURCE],
                "The capacity that --capacity states, such as the ceiling of an autoscaler. No series if it is Nodes.",
            ))?,
            leader: into.gauge(metric("quotient_leader", Unit::Truth, &[], "1 while this replica leads."))?,
            queues: QueueGauges::declare(into)?,
            evictions: EvictionMetrics::declare(into)?,
            scalings: ScalingMetrics::declare(into)?,
            cycles: CycleMetrics::declare(into)?,
            writes: WriteMetrics::declare(into)?,
            ledger: LedgerMetrics::declare(into)?,
            watches: WatchMetrics::declare(into)?,
            standard: StandardMetrics::declare(into)?,
        };
        Process::declare(into)?;
        Ok(metrics)
    }

    /// Shows what --capacity states.
    pub fn grows_to(&self, ceiling: &Amounts) {
        for (resource, amount) in ceiling.iter() {
            self.ceiling.with_label_values(&[resource.name()]).set(base_units(resource, amount));
        }
    }

    /// Says how far the operator goes.
    pub fn runs_in(&self, mode: Mode) {
        self.mode.with_label_values(&[mode.name()]).set(1);
    }

    /// Counts one write of `kind`.
    pub fn wrote(&self, kind: &str, result: &str) {
        self.writes.all.with_label_values(&[kind, result]).inc();
    }
}
