//! Random histories: a cluster, what happens to it, and what has to hold all the while.

mod beginning;
mod chronicle;
mod describe;
mod event;
mod happen;
mod laws;

use std::fmt;

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::snapshot::Snapshot;

pub(crate) use beginning::beginning;
pub(crate) use chronicle::Chronicle;
use describe::describe_event;
pub(crate) use describe::{describe, describe_step};
pub(crate) use event::Event;
use event::{event, intervention};
pub(crate) use happen::{happen, pick_in, pick_pod};
pub(crate) use laws::{
    admitted, bound_in_excess, is_spared, no_queue_starves_beside_plenty, runnable,
    same_plan_on_shuffled_input, while_victims_leave_no_other_goes,
};

/// One thing that happens, and how many steps the world goes on before the next one.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub(crate) event: Event,
    /// For every step whether its quotas were enforced before any eviction.
    pub(crate) steps: Vec<bool>,
}

/// A cluster and what happens to it.
#[derive(Clone)]
pub(crate) struct History {
    pub(crate) beginning: Snapshot,
    pub(crate) episodes: Vec<Episode>,
    /// What happens at the end, all at once.
    pub(crate) last: Vec<Event>,
}

impl fmt::Debug for History {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "\n{}", describe(&self.beginning))?;
        self.episodes.iter().try_for_each(|episode| {
            writeln!(formatter, "{} {:?}", describe_event(&episode.event), episode.steps)
        })?;
        self.last.iter().try_for_each(|event| writeln!(formatter, "{}", describe_event(event)))
    }
}

/// Random histories.
pub(crate) fn history() -> impl Strategy<Value = History> {
    history_of(event)
}

/// The same, in which nodes change, users end pods, and specs change in every way.
pub(crate) fn history_with_interventions() -> impl Strategy<Value = History> {
    history_of(intervention)
}

fn history_of<E: Strategy<Value = Event>>(event: impl Fn() -> E) -> impl Strategy<Value = History> {
    let episode = (event(), proptest::collection::vec(any::<bool>(), 0..4));
    let episode = episode.prop_map(|(event, steps)| Episode { event, steps });
    let last = proptest::collection::vec(event(), 1..8);
    (beginning(), proptest::collection::vec(episode, 3..22), last)
        .prop_map(|(beginning, episodes, last)| History { beginning, episodes, last })
}

/// Milli-cpu, MiB and devices.
pub(crate) type Size = (i128, i128, i128);

fn each((cpu, memory, gpu): Size) -> [(Resource, Amount); 3] {
    let gpus = Resource::from_name("nvidia.com/gpu");
    [
        (Resource::Cpu, Amount::new(cpu)),
        (Resource::Memory, Amount::new(memory << 20)),
        (gpus, Amount::new(gpu)),
    ]
}

pub(crate) fn amounts(size: Size) -> Amounts {
    each(size).into_iter().collect()
}

/// Only what is named: a size of -1 is left open.
pub(crate) fn bounds(size: Size) -> Bounds {
    each(size).into_iter().filter(|(_, amount)| amount.units() >= 0).collect()
}
