//! Workloads: what is there at the beginning, what happens later, and how it has to end.

mod seeds;

use std::time::Duration;

use serde_json::Value;

pub use seeds::{newcomer, two_queues};

use super::World;
use super::build::{created, joins, seconds, train};
use crate::faults::Act;
use crate::objects::Kind;

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
    pub hard: Vec<(&'static str, String)>,
    /// How many cpus run in each namespace in the end, or in all of them if the name is empty.
    pub running_cpu: Vec<(&'static str, &'static str)>,
    /// How many evictions it takes.
    pub evictions: usize,
}

/// How a workload is written: a cluster, what happens in it, and its end.
impl Workload {
    /// Nothing happens to these objects.
    pub fn new(name: &'static str, objects: Vec<(Kind, Value)>) -> Self {
        Self {
            name,
            objects,
            later: Vec::new(),
            length: Duration::ZERO,
            hard: Vec::new(),
            running_cpu: Vec::new(),
            evictions: 0,
        }
    }

    /// This is there, too.
    #[must_use]
    pub fn with(mut self, objects: impl IntoIterator<Item = (Kind, Value)>) -> Self {
        self.objects.extend(objects);
        self
    }

    /// This happens at a second.
    #[must_use]
    pub fn at(mut self, second: u64, act: Act) -> Self {
        self.later.push((seconds(second), act));
        self
    }

    /// A person creates something at a second.
    #[must_use]
    pub fn create(self, second: u64, kind: Kind, object: Value) -> Self {
        self.at(second, created(kind, object))
    }

    /// Everything has happened by this second.
    #[must_use]
    pub fn until(self, second: u64) -> Self {
        Self { length: seconds(second), ..self }
    }

    /// It ends with these cpus and this memory in the quota of each namespace, and with as many cpus that run there.
    #[must_use]
    pub fn shares(
        self,
        shares: impl IntoIterator<Item = (&'static str, &'static str, &'static str)>,
    ) -> Self {
        let shares: Vec<_> = shares.into_iter().collect();
        let hard =
            |(namespace, cpu, memory)| (namespace, format!("requests.cpu {cpu}, requests.memory {memory}"));
        let running = shares.iter().map(|(namespace, cpu, _)| (*namespace, *cpu)).collect();
        Self { hard: shares.into_iter().map(hard).collect(), running_cpu: running, ..self }
    }

    /// It ends with these quotas.
    #[must_use]
    pub fn quotas(self, hard: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let hard = hard.into_iter().map(|(namespace, hard)| (namespace, hard.to_owned())).collect();
        Self { hard, ..self }
    }

    /// It ends with these cpus that run.
    #[must_use]
    pub fn running(self, cpus: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Self { running_cpu: cpus.into_iter().collect(), ..self }
    }

    /// team-2 joins a queue that has eight cpus, and is as heavy: four pods go, and each has half of the cpus and this memory.
    #[must_use]
    pub fn halved(self, memory: &'static str) -> Self {
        self.at(30, joins("team-2", 1))
            .at(31, train("team-2", 4))
            .until(32)
            .shares([("team-1", "4", memory), ("team-2", "4", memory)])
            .evictions(4)
    }

    /// It takes so many evictions.
    #[must_use]
    pub fn evictions(self, evictions: usize) -> Self {
        Self { evictions, ..self }
    }
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
        let hard =
            hard.map(|(namespace, wanted)| (namespace, "hard", world.hard(namespace), wanted.as_str()));
        let running = self
            .running_cpu
            .iter()
            .map(|(namespace, wanted)| (namespace, "running cpu", world.running(namespace, "cpu"), *wanted));
        let wrong = hard.chain(running).filter(|(_, _, found, wanted)| found != wanted);
        let said = |(namespace, what, found, wanted): (&&str, &str, String, &str)| {
            format!("{namespace}: {what} is {found:?} and not {wanted:?}")
        };
        wrong.map(said).collect()
    }
}
