//! The world: the cluster, the operators, requests under way, and what has happened.

use crate::cluster::Cluster;
use crate::numbers::PerQueue;
use crate::operator::Operator;
use crate::scenario::{Faults, Scenario};
use crate::write::Write;

/// The most operators and the most late writes that a scenario may have.
pub const MOST: usize = 3;

/// One state of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct World {
    /// What the API server knows.
    pub cluster: Cluster,
    /// The operators.
    pub operators: [Operator; MOST],
    /// Writes that timed out and may still land.
    pub late: [Option<Write>; MOST],
    /// The faults that have happened.
    pub happened: Faults,
    /// How many pods of each queue were evicted.
    pub evicted: PerQueue<u8>,
    /// How many pods were let in above what the ledger grants.
    pub loans: u8,
    /// A rule that the last step broke.
    pub broken: Option<Broken>,
}

/// A rule about single steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A pod was evicted although its queue was left with less than it ever deserved.
    BelowShare,
    /// A pod was evicted although the ledger owes less than is being freed.
    NotOwed,
    /// A write of an older generation replaced a newer one.
    Older,
}

impl World {
    /// What an operator sees now.
    pub(crate) fn sees(&self, scenario: &Scenario, op: usize) -> Cluster {
        self.operators[op].sees(scenario, &self.cluster)
    }
}
