//! What may happen to a cluster.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::snapshot::{Node, Owner, Queue, Shape};

use super::Size;
use super::beginning::{guaranteed, limit, node, owner, parents, queue, request, shape};

/// Something that happens. A number picks one of what is there then.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there are thirty at a time")]
pub(crate) enum Event {
    /// Nothing but time, in seconds, without an operator.
    TimePasses(i64),
    OwnerCreated(usize, Owner),
    OwnerDeleted(usize),
    OwnerScaled(usize, u32),
    /// A pod without an owner, as far as the quota admits it.
    BarePodCreated(usize, Arc<Shape>),
    PodFinished(usize),
    PodDeleted(usize),
    /// Cordoned or not Ready: it does not count, its pods stay.
    NodeLost(usize),
    NodeBack(usize),
    /// With its pods.
    NodeGone(usize),
    NodeAdded(Node),
    WeightChanged(usize, u32),
    RequestChanged(usize, Option<Size>),
    GuaranteedChanged(usize, Size),
    LimitChanged(usize, Size),
    /// Any, parents included.
    QueueDeleted(usize),
    /// In a namespace that has none.
    QueueCreated(usize, Queue),
    /// Those that are missing.
    ParentsCreated(Vec<Queue>),
    BudgetChanged(usize, u32),
}

pub(crate) fn event() -> impl Strategy<Value = Event> {
    let one = || 0usize..100;
    let owners = prop_oneof![
        2 => (one(), owner()).prop_map(|(at, owner)| Event::OwnerCreated(at, owner)),
        1 => one().prop_map(Event::OwnerDeleted),
        2 => (one(), 0u32..12).prop_map(|(at, wanted)| Event::OwnerScaled(at, wanted)),
    ];
    let pods = prop_oneof![
        (one(), shape()).prop_map(|(at, shape)| Event::BarePodCreated(at, shape)),
        one().prop_map(Event::PodFinished),
        one().prop_map(Event::PodDeleted),
    ];
    let nodes = prop_oneof![
        2 => one().prop_map(Event::NodeLost),
        2 => one().prop_map(Event::NodeBack),
        1 => one().prop_map(Event::NodeGone),
        2 => node().prop_map(Event::NodeAdded),
    ];
    let queues = prop_oneof![
        2 => (one(), 0u32..5).prop_map(|(at, weight)| Event::WeightChanged(at, weight)),
        2 => (one(), request()).prop_map(|(at, request)| Event::RequestChanged(at, request)),
        2 => (one(), guaranteed()).prop_map(|(at, guaranteed)| Event::GuaranteedChanged(at, guaranteed)),
        2 => (one(), limit()).prop_map(|(at, limit)| Event::LimitChanged(at, limit)),
        1 => one().prop_map(Event::QueueDeleted),
        1 => parents().prop_map(Event::ParentsCreated),
        2 => (one(), queue()).prop_map(|(at, queue)| Event::QueueCreated(at, queue)),
    ];
    let budgets = (one(), 0u32..3).prop_map(|(at, allowed)| Event::BudgetChanged(at, allowed));
    prop_oneof![
        1 => (1i64..400).prop_map(Event::TimePasses),
        4 => owners,
        2 => pods,
        2 => nodes,
        4 => queues,
        1 => budgets,
    ]
}
