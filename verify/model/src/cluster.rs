//! What the API server knows, and the shape of every copy of it.

use crate::ledger::Ledger;
use crate::numbers::{Generation, PerQueue};
use crate::pods::Pods;

/// The ResourceQuota of one queue, in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quota {
    /// `spec.hard`.
    pub hard: u8,
    /// `status.hard`: what admission enforces.
    pub enforced: u8,
    /// `status.used`: what admission has charged, pods that no watch has shown included. 0 where the scenario
    /// leaves it out.
    pub used: u8,
    /// The generation that its last writer put on it. People put none.
    pub generation: Generation,
}

/// The objects that the protocol reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cluster {
    /// Which of the scenario's demands the Queues state.
    pub demand: u8,
    /// The quota of each queue.
    pub quotas: PerQueue<Option<Quota>>,
    /// The pods of each queue.
    pub pods: PerQueue<Pods>,
    /// The ledger; none before its first write, or once it is deleted.
    pub ledger: Option<Ledger>,
    /// In what an operator sees: whether the pods are older than the ledger. Only in Gate mode does it matter.
    pub pods_are_older: bool,
}

/// A kind of object, each with a watch of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Queues: the demands.
    Queues,
    /// ResourceQuotas.
    Quotas,
    /// Pods.
    Pods,
    /// The ledger.
    Ledger,
}

/// All kinds.
pub const KINDS: [Kind; 4] = [Kind::Queues, Kind::Quotas, Kind::Pods, Kind::Ledger];

impl Cluster {
    /// Takes over everything of `kind` from `other`.
    pub const fn copy(&mut self, kind: Kind, other: &Self) {
        match kind {
            Kind::Queues => self.demand = other.demand,
            Kind::Quotas => self.quotas = other.quotas,
            Kind::Pods => self.pods = other.pods,
            Kind::Ledger => self.ledger = other.ledger,
        }
    }

    /// What the ledger grants to queue `at`.
    pub fn granted(&self, at: usize) -> u8 {
        self.ledger.and_then(|ledger| ledger.entries[at]).map_or(0, |entry| entry.granted)
    }

    /// What the ledger owes to all queues.
    pub fn owed(&self) -> u8 {
        self.ledger.iter().flat_map(|ledger| ledger.entries.iter().flatten()).map(|entry| entry.owed).sum()
    }

    /// What queue `at` can occupy: what admission lets in, or what is there.
    pub fn occupied(&self, at: usize) -> u8 {
        let charged = self.pods[at].charged();
        self.quotas[at].map_or(charged, |quota| quota.enforced.max(charged))
    }

    /// Whether some quota bears a stamp that the ledger has not come to yet: it has been written since.
    pub fn is_behind(&self) -> bool {
        let newest = self.quotas.iter().flatten().map(|quota| quota.generation).max();
        self.ledger.is_some_and(|ledger| Some(ledger.generation) < newest)
    }
}
