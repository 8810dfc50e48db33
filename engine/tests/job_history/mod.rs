//! A world of QueueJobs: what it begins with, what happens to it, and what has to hold.

mod event;
mod world;

use proptest::prelude::*;

pub(crate) use event::Event;
pub(crate) use world::World;

/// How a world begins: the cpu of its nodes, and the limit of each of its queues.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    pub(crate) nodes: Vec<u32>,
    pub(crate) queues: Vec<QueueSpec>,
}

/// A queue.
#[derive(Clone, Debug)]
pub(crate) struct QueueSpec {
    pub(crate) weight: u32,
    pub(crate) limit: Option<u32>,
    pub(crate) observed: bool,
    pub(crate) yields: bool,
    /// Whether new pods wait at a gate for which there is no room.
    pub(crate) gated: bool,
}

/// A beginning, and what happens, each with how many steps the world goes on before the next.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) beginning: Beginning,
    pub(crate) episodes: Vec<(Event, u32)>,
}

/// Random histories.
pub(crate) fn history() -> impl Strategy<Value = History> {
    let limit = proptest::option::of(4u32..12);
    let queue = (1u32..4, limit, any::<bool>(), any::<bool>());
    let queue = queue.prop_map(|(weight, limit, observed, yields)| QueueSpec {
        weight,
        limit,
        observed,
        yields,
        gated: false,
    });
    let beginning = (proptest::collection::vec(4u32..9, 1..4), proptest::collection::vec(queue, 1..3));
    let beginning = beginning.prop_map(|(nodes, queues)| Beginning { nodes, queues });
    let episodes = proptest::collection::vec((event::event(), 0u32..5), 3..20);
    (beginning, episodes).prop_map(|(beginning, episodes)| History { beginning, episodes })
}
