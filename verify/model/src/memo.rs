//! What the engine answered, kept: millions of states hold only thousands of different views.

use std::collections::HashMap;
use std::sync::RwLock;
use std::sync::atomic::AtomicUsize;

use crate::cluster::Cluster;
use crate::numbers::PerQueue;
use crate::protocol::{planned, queues};
use crate::scenario::Scenario;
use crate::units::cpu;
use crate::write::Work;

/// Decisions by view, and what is the same in all states of a scenario.
pub struct Memo {
    decided: RwLock<HashMap<(Cluster, u8), Work>>,
    /// What each queue deserves, by demand.
    deserved: Vec<PerQueue<u8>>,
    /// How many steps refused a write because of its precondition, and how many let a late one land.
    pub(crate) conflicts: AtomicUsize,
    pub(crate) landed: AtomicUsize,
}

impl Memo {
    /// Nothing decided yet.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let deserved = (0..scenario.demands.len()).map(|demand| {
            let demand = u8::try_from(demand).expect("few demands");
            let plan = planned(scenario, &Cluster { demand, ..scenario.beginning() });
            let mut deserved = PerQueue::default();
            for (at, queue) in queues(scenario, &plan) {
                deserved[at] = cpu(&queue.deserved);
            }
            deserved
        });
        Self {
            deserved: deserved.collect(),
            decided: RwLock::default(),
            conflicts: AtomicUsize::new(0),
            landed: AtomicUsize::new(0),
        }
    }

    /// What an operator that sees `seen` is going to write.
    pub(crate) fn decide(&self, scenario: &Scenario, seen: &Cluster, choice: u8) -> Work {
        let key = (*seen, choice);
        if let Some(work) = self.decided.read().expect("no reader panics").get(&key) {
            return *work;
        }
        let work = scenario.protocol.decide(scenario, seen, choice);
        self.decided.write().expect("no writer panics").insert(key, work);
        work
    }

    /// What queue `at` deserves while the Queues state this demand.
    pub fn deserved(&self, demand: u8, at: usize) -> u8 {
        self.deserved[usize::from(demand)][at]
    }

    /// The least that queue `at` has deserved up to this demand.
    pub fn least_deserved(&self, demand: u8, at: usize) -> u8 {
        (0..=demand).map(|demand| self.deserved(demand, at)).min().unwrap_or(0)
    }

    /// How many views there were to decide on.
    pub(crate) fn views(&self) -> usize {
        self.decided.read().expect("no reader panics").len()
    }
}
