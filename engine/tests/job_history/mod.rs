//! A world of QueueJobs: what it begins with, what happens to it, and what has to hold.

mod event;
mod world;

use proptest::prelude::*;

pub(crate) use event::Event;
pub(crate) use world::World;

/// A beginning, and what happens, each with how many steps the world goes on before the next.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The cpu of each node.
    pub(crate) nodes: Vec<u32>,
    /// What a story says of each queue.
    pub(crate) queues: Vec<String>,
    pub(crate) episodes: Vec<(Event, u32)>,
}

/// Random histories.
pub(crate) fn history() -> impl Strategy<Value = History> {
    let limit = proptest::option::of(4u32..12);
    let queue = (1u32..4, limit, any::<bool>(), any::<bool>());
    let queue = queue.prop_map(|(weight, limit, observed, yields)| {
        let limit = limit.map_or_else(String::new, |cpu| format!(" limit=cpu:{cpu}"));
        let request = if observed { "" } else { " request=all" };
        let preemption = if yields { " preemption=LowerPriority" } else { "" };
        format!("weight={weight}{limit}{request}{preemption}")
    });
    let beginning = (proptest::collection::vec(4u32..9, 1..4), proptest::collection::vec(queue, 1..3));
    let episodes = proptest::collection::vec((event::event(), 0u32..5), 3..20);
    (beginning, episodes).prop_map(|((nodes, queues), episodes)| History { nodes, queues, episodes })
}
