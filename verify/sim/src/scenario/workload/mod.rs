//! Workloads: what is there at the beginning, what happens later, and how it has to end.

mod changes;
mod demand;
mod seeds;
mod tree;

use std::time::Duration;

use serde_json::Value;

pub use changes::{guarded_by_a_budget, node_added, queue_deleted};
pub use demand::observed;
pub use seeds::{newcomer, two_queues};
pub use tree::grandchildren;

use super::World;
use super::build::{created, teams};
use crate::faults::Act;
use crate::objects::Kind;

/// All of them.
pub fn all() -> Vec<Workload> {
    vec![
        two_queues(),
        newcomer(),
        guarded_by_a_budget(),
        observed(),
        queue_deleted(),
        node_added(),
        grandchildren(),
    ]
}

/// A scenario without faults. Whatever goes wrong on the way, it has to end in the same state.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What people call it.
    pub name: &'static str,
    /// What is there before any operator is.
    pub objects: Vec<(Kind, Value)>,
    /// What happens later.
    pub later: Vec<(Duration, Act)>,
    /// When everything has happened: nothing is settled before.
    pub length: Duration,
    /// What every quota enforces in the end, by namespace.
    pub hard: Vec<(&'static str, &'static str)>,
    /// How many cpus run in each namespace in the end, or in all of them if the name is empty.
    pub running_cpu: Vec<(&'static str, &'static str)>,
    /// How many evictions it takes.
    pub evictions: usize,
}

impl Workload {
    /// Puts everything that is there into `world`, and on its calendar what happens later.
    pub fn build(&self, world: &World) {
        for (kind, object) in &self.objects {
            world.create(*kind, object.clone());
        }
        for (time, act) in &self.later {
            world.at(*time, act.clone());
        }
    }

    /// Lets everything happen, and then time pass until nothing more does. Says since when.
    pub fn run(&self, world: &mut World) -> Option<Duration> {
        world.run_for(self.length.saturating_sub(world.elapsed()));
        world.run_until_settled()
    }

    /// What is not as it has to be in the end; nothing if all is well.
    pub fn differences(&self, world: &World) -> Vec<String> {
        let hard = self.hard.iter().filter(|(namespace, _)| !world.is_held_by_itself(namespace));
        let hard = hard.map(|(namespace, wanted)| (namespace, "hard", world.hard(namespace), wanted));
        let running = self
            .running_cpu
            .iter()
            .map(|(namespace, wanted)| (namespace, "running cpu", world.running(namespace, "cpu"), wanted));
        let wrong = hard.chain(running).filter(|(_, _, found, wanted)| found != **wanted);
        let said = |(namespace, what, found, wanted): (&&str, &str, String, &&str)| {
            format!("{namespace}: {what} is {found:?} and not {wanted:?}")
        };
        wrong.map(said).collect()
    }
}

/// When the first work comes, when a queue joins, and when work comes for which that was. So far apart that an operator
/// which dies in between is back in time: else it would be late, not wrong.
const WORK: Duration = Duration::from_secs(30);
const JOIN: Duration = Duration::from_secs(60);
const CLAIM: Duration = Duration::from_secs(100);
