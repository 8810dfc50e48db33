//! An operator: what it sees, and what it is doing.

use crate::cluster::{Cluster, KINDS, Kind};
use crate::ledger::Ledger;
use crate::numbers::Version;
use crate::scenario::Scenario;
use crate::write::{Outcome, Work, Write};

/// One operator that believes that it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operator {
    /// What its watches last told of the kinds that may lag. The others it sees as they are.
    pub cache: Cluster,
    /// Whether its quotas are newer than its pods, as their resource versions tell.
    pub quotas_are_newer: bool,
    /// The version that the ledger had when its watch of pods caught up last.
    pub pods_version: Version,
    /// What it still has to write in this cycle.
    pub work: Work,
}

impl Operator {
    /// An operator that has just started: its first lists are fresh.
    pub fn started(scenario: &Scenario, cluster: &Cluster) -> Self {
        let mut operator = Self::default();
        for kind in KINDS.into_iter().filter(|kind| scenario.lags(*kind)) {
            operator.observe(scenario, kind, cluster);
        }
        operator
    }

    /// Its watch of `kind` catches up.
    pub fn observe(&mut self, scenario: &Scenario, kind: Kind, cluster: &Cluster) {
        self.cache.copy(kind, cluster);
        match kind {
            Kind::Pods => {
                self.quotas_are_newer = false;
                // In Quota mode nothing reads it, and it would only make more states.
                let ledger = cluster.ledger.filter(|_| scenario.is_in_gate_mode());
                self.pods_version = ledger.map_or(0, |ledger| ledger.version);
            }
            Kind::Quotas => self.quotas_are_newer = self.cache.pods != cluster.pods,
            Kind::Queues | Kind::Ledger => {}
        }
    }

    /// What it would decide on now.
    pub fn sees(&self, scenario: &Scenario, cluster: &Cluster) -> Cluster {
        let mut seen = *cluster;
        for kind in KINDS.into_iter().filter(|kind| scenario.lags(*kind)) {
            seen.copy(kind, &self.cache);
        }
        let newer =
            if scenario.lags(Kind::Quotas) { self.quotas_are_newer } else { seen.pods != cluster.pods };
        if !newer {
            seen.quotas.iter_mut().flatten().for_each(|quota| quota.used = 0);
        }
        seen
    }

    /// Whether the pods that it sees are older than this ledger, as their resource versions tell.
    pub(crate) fn pods_are_older(&self, scenario: &Scenario, ledger: Option<Ledger>) -> bool {
        let is_kept = scenario.is_in_gate_mode() && scenario.lags(Kind::Pods);
        is_kept && ledger.is_some_and(|ledger| self.pods_version < ledger.version)
    }

    /// Goes on after `write`; without an outcome it timed out. A ledger that may not have been written voids the
    /// whole cycle.
    pub(crate) fn go_on(&mut self, write: &Write, outcome: Option<Outcome>) {
        if matches!(write, Write::Ledger(_)) && outcome != Some(Outcome::Done) {
            self.work = Work::default();
        } else {
            self.work.cross_off(write);
        }
    }
}
