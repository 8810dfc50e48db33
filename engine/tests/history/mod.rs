//! Random histories: a cluster, what happens to it, and what has to hold all the while.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

mod beginning;
mod chronicle;
mod event;
mod happen;
mod laws;
mod tell;

use std::fmt;

use proptest::prelude::*;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::snapshot::Snapshot;

pub(crate) use beginning::beginning;
pub(crate) use chronicle::Chronicle;
pub(crate) use event::{Event, event};
pub(crate) use happen::happen;
pub(crate) use laws::nobody_starves_beside_plenty;
pub(crate) use tell::tell;
use tell::tell_event;

/// What random histories are about. A rule that does not hold yet is left out here, and nowhere else.
#[allow(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(crate) struct Scope {
    /// Queues of observed demand.
    pub(crate) observed: bool,
    /// Gangs.
    pub(crate) gangs: bool,
    /// Disruption budgets.
    pub(crate) budgets: bool,
    /// Queues that wait before others' pods go for them, or that only need what they use.
    pub(crate) patience: bool,
    /// Nobody is evicted below what it is guaranteed and deserves.
    pub(crate) guarantees_hold: bool,
    /// While victims are on their way, the others stay the same ones.
    pub(crate) choices_are_stable: bool,
    /// The same where several resources have to be covered.
    pub(crate) several_resources_are_stable: bool,
    /// The same where more is held than there is.
    pub(crate) excess_is_stable: bool,
    /// The same where there are limits and fences; and then no equal of a victim comes back at once.
    pub(crate) scopes_are_stable: bool,
    /// The beneficiary of an eviction is another queue.
    pub(crate) beneficiaries_are_true: bool,
    /// While victims are on their way, nobody else goes, also where several pods compete for rooms on nodes.
    pub(crate) asks_are_stable: bool,
    /// While somebody lacks what a pod went for, no equal of that pod is admitted in its queue.
    pub(crate) victims_stay_away: bool,
}

pub(crate) const SCOPE: Scope = Scope {
    // Built; with it about one history of 500 still evicts a pod that was just admitted.
    observed: false,
    // Built; not yet tried at length in histories.
    gangs: false,
    // Built; not yet tried at length in histories.
    budgets: false,
    // Built; with it about one history of 500 still evicts a pod that was just admitted.
    patience: false,
    // Built; with it about one history of 1000 still has a queue that loses and gains.
    guarantees_hold: false,
    // Broken, each with a story in `choices.rs`.
    choices_are_stable: false,
    several_resources_are_stable: false,
    excess_is_stable: true,
    scopes_are_stable: false,
    beneficiaries_are_true: true,
    // Broken in about one history of 300: shares of whole pods move once victims are gone.
    victims_stay_away: false,
    // Broken: which pod is meant for which of several rooms is not remembered from one plan to the next.
    asks_are_stable: false,
};

/// One thing that happens, and how many steps the world goes on before the next one.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub(crate) event: Event,
    /// For every step whether its quotas were in force before anybody was evicted.
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
        writeln!(formatter, "\n{}", tell(&self.beginning))?;
        self.episodes.iter().try_for_each(|episode| {
            writeln!(formatter, "{} {:?}", tell_event(&episode.event), episode.steps)
        })?;
        self.last.iter().try_for_each(|event| writeln!(formatter, "{}", tell_event(event)))
    }
}

/// Random histories.
pub(crate) fn history() -> impl Strategy<Value = History> {
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
