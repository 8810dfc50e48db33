//! What may happen.

use proptest::prelude::*;

/// Something that happens. A number picks one of what is there then.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A QueueJob comes; its pods request one cpu each.
    Submitted { queue: usize, job: JobSpec },
    /// It is suspended, or goes on.
    Toggled(usize),
    /// Its first task has another number of replicas, and it as much of a floor as fits.
    Resized(usize, u32),
    /// It goes with its pods.
    Deleted(usize),
    /// A running pod of a QueueJob ends well.
    Succeeded(usize),
    /// A running pod of a QueueJob is deleted by a person.
    PodDeleted(usize),
    /// A Deployment of pods of one cpu comes, or has another size.
    Scaled { queue: usize, replicas: u32 },
    /// A queue has another limit, in cpu.
    LimitChanged(usize, Option<u32>),
    /// A node is cordoned, or counts again.
    NodeToggled(usize),
    /// Nothing but time, in seconds.
    TimePasses(i64),
}

/// A QueueJob that comes.
#[derive(Clone, Debug)]
pub(crate) struct JobSpec {
    pub(crate) min: u32,
    pub(crate) priority: i32,
    /// The replicas of each task, and how many of them it cannot do without.
    pub(crate) tasks: Vec<(u32, u32)>,
}

fn job() -> impl Strategy<Value = JobSpec> {
    let task = (1u32..6, prop_oneof![2 => Just(0u32), 1 => 1u32..3]);
    (1u32..8, 0i32..3, proptest::collection::vec(task, 1..3)).prop_map(|(min, priority, tasks)| {
        let tasks: Vec<(u32, u32)> = tasks.into_iter().map(|(most, floor)| (most, floor.min(most))).collect();
        let (most, floors): (u32, u32) =
            (tasks.iter().map(|(most, _)| most).sum(), tasks.iter().map(|(_, floor)| floor).sum());
        JobSpec { min: min.min(most).max(floors), priority, tasks }
    })
}

pub(super) fn event() -> impl Strategy<Value = Event> {
    let one = || 0usize..100;
    prop_oneof![
        6 => (one(), job()).prop_map(|(queue, job)| Event::Submitted { queue, job }),
        1 => one().prop_map(Event::Toggled),
        1 => (one(), 1u32..7).prop_map(|(at, replicas)| Event::Resized(at, replicas)),
        1 => one().prop_map(Event::Deleted),
        4 => one().prop_map(Event::Succeeded),
        1 => one().prop_map(Event::PodDeleted),
        2 => (one(), 0u32..6).prop_map(|(queue, replicas)| Event::Scaled { queue, replicas }),
        1 => (one(), proptest::option::of(3u32..12)).prop_map(|(at, limit)| Event::LimitChanged(at, limit)),
        1 => one().prop_map(Event::NodeToggled),
        1 => (1i64..400).prop_map(Event::TimePasses),
    ]
}
