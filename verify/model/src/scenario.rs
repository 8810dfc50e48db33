//! A scenario: how large the world is, how it begins, and how much may go wrong.

use crate::cluster::{Cluster, Kind, Quota};
use crate::ledger::{Entry, Ledger};
use crate::numbers::PerQueue;
use crate::pods::Pods;
use crate::rules::{Protocol, Rules};

/// One configuration of the model.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called in tables.
    pub name: &'static str,
    /// How operators decide and write.
    pub protocol: Protocol,
    /// Units that the nodes offer: C.
    pub capacity: u8,
    /// How many queues there are.
    pub queues: usize,
    /// What the Queues state, one after the other: the first at the beginning, every further one at any time after.
    pub demands: Vec<PerQueue<u8>>,
    /// What the quotas allow at the beginning, in force; none where there is no quota yet.
    pub quotas: PerQueue<Option<u8>>,
    /// Whether there is a ledger at the beginning; it then says what the quotas say.
    pub ledger: bool,
    /// In Gate mode what the ledger grants at the beginning; quotas then hold limits. None in Quota mode.
    pub gated: Option<PerQueue<u8>>,
    /// How many pods run at the beginning.
    pub pods: PerQueue<u8>,
    /// How many operators believe that they lead.
    pub operators: usize,
    /// The kinds whose watches may lag behind, each by any amount of time.
    pub lagging: &'static [Kind],
    /// Whether a pod that finds room on the node starts at once, which leaves fewer states.
    pub starts_at_once: bool,
    /// What may go wrong.
    pub faults: Faults,
}

/// How often each fault may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// An operator dies between two writes and starts again, with nothing but what the API server knows.
    pub crashes: u8,
    /// A write times out; it lands at any later time, or never.
    pub late: u8,
    /// A running pod ends by itself.
    pub deaths: u8,
    /// A person raises a quota to the whole capacity.
    pub raises: u8,
    /// A person deletes the ledger.
    pub losses: u8,
}

impl Scenario {
    /// Whether all queues are in Gate mode.
    pub const fn is_in_gate_mode(&self) -> bool {
        self.gated.is_some()
    }

    /// How many pods the owners of queue `at` want: all that any of its demands speaks of, and those that run.
    ///
    /// A smaller claim does not change what its workloads want: they take back whatever their quota lets them.
    pub fn wanted(&self, at: usize) -> u8 {
        self.demands.iter().map(|demand| demand[at]).chain([self.pods[at]]).max().unwrap_or(0)
    }

    /// Whether quotas tell what is charged. It is left out where no rule reads it.
    pub fn reports_used(&self) -> bool {
        self.protocol == Protocol::Ledger(Rules::AndUsed)
    }

    /// The queues.
    pub const fn each(&self) -> std::ops::Range<usize> {
        0..self.queues
    }

    /// The cluster as it begins.
    pub fn beginning(&self) -> Cluster {
        let mut cluster = Cluster::default();
        for at in self.each() {
            let used = if self.reports_used() { self.pods[at] } else { 0 };
            cluster.quotas[at] =
                self.quotas[at].map(|hard| Quota { hard, enforced: hard, used, generation: 1 });
            cluster.pods[at] = Pods::running(self.pods[at]);
        }
        if self.ledger {
            let entry = |hard: u8| Entry { granted: hard, largest: hard, owed: 0, changed: 1 };
            let granted = self.gated.map_or(self.quotas, |granted| granted.map(Some));
            let entries = granted.map(|granted| granted.map(entry));
            cluster.ledger = Some(Ledger { version: 1, generation: 1, entries, rebuilt: false });
        }
        cluster
    }

    /// Whether watches of `kind` may lag.
    pub fn lags(&self, kind: Kind) -> bool {
        self.lagging.contains(&kind)
    }
}
