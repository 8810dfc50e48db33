//! What may happen to a cluster.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::snapshot::{
    Admission, EvictionPolicy, EvictionRules, GangPolicy, LastReplica, Mode, Node, Owner, Preemption, Queue,
    Reclaim, ReclaimFrom, Shape,
};

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
    /// It offers what this one does, in the zone of this one; its pods stay.
    NodeChanged(usize, Node),
    /// A user cordons it and evicts its pods.
    NodeDrained(usize),
    /// By a user, with so many seconds of grace.
    PodEvicted(usize, u32),
    /// All pods of a namespace.
    PodsDeleted(usize),
    /// Without any grace.
    PodKilled(usize),
    /// It ended badly: its owner creates another one.
    PodFailed(usize),
    /// It was deleted long ago and does not end before time passes.
    PodHangs(usize),
    OperatorModeChanged(Mode),
    ModeChanged(usize, Mode),
    /// For so many seconds from now on, or no longer.
    PauseChanged(usize, Option<i64>),
    AdmissionChanged(usize, Admission),
    PreemptionChanged(usize, Preemption),
    ReclaimChanged(usize, Reclaim),
    EvictionChanged(usize, EvictionRules),
    /// To this one of `org`, which may be a child of the queue itself.
    ParentChanged(usize, Option<&'static str>),
    /// Deleted and created again with the same spec.
    QueueRecreated(usize),
    /// Its deletion was asked for, and something delays it.
    QueueLeaves(usize),
    /// In a namespace that has one already.
    SecondQueueCreated(usize, Queue),
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

/// What users and administrators do by hand, and what happens to them anyway.
pub(crate) fn intervention() -> impl Strategy<Value = Event> {
    let one = || 0usize..100;
    let nodes = prop_oneof![
        3 => (one(), node()).prop_map(|(at, node)| Event::NodeChanged(at, node)),
        1 => one().prop_map(Event::NodeDrained),
    ];
    let grace = prop_oneof![2 => Just(30u32), 1 => Just(3600)];
    let pods = prop_oneof![
        3 => (one(), grace).prop_map(|(at, seconds)| Event::PodEvicted(at, seconds)),
        1 => one().prop_map(Event::PodsDeleted),
        2 => one().prop_map(Event::PodKilled),
        2 => one().prop_map(Event::PodFailed),
        1 => one().prop_map(Event::PodHangs),
    ];
    // Boxed, as all of them together are too large for the stack of a test.
    prop_oneof![4 => event().boxed(), 2 => nodes.boxed(), 2 => pods.boxed(), 4 => spec_change().boxed()]
}

/// What changes of a Queue or of the operator other than amounts.
fn spec_change() -> impl Strategy<Value = Event> {
    let one = || 0usize..100;
    let mode = || prop_oneof![1 => Just(Mode::Observe), 1 => Just(Mode::Quota), 3 => Just(Mode::Full)];
    let pause = proptest::option::of(1i64..400);
    let admission = prop_oneof![2 => Just(Admission::Gate), 2 => Just(Admission::Quota), 1 => Just(Admission::GateNotServed)];
    let preemption = prop_oneof![Just(Preemption::LowerPriority), Just(Preemption::Never)];
    let parent = prop_oneof![2 => Just(None), 2 => Just(Some("upper")), 2 => Just(Some("lower")), 1 => Just(Some("none"))];
    prop_oneof![
        1 => mode().prop_map(Event::OperatorModeChanged),
        4 => (one(), mode()).prop_map(|(at, mode)| Event::ModeChanged(at, mode)),
        3 => (one(), pause).prop_map(|(at, seconds)| Event::PauseChanged(at, seconds)),
        3 => (one(), admission).prop_map(|(at, admission)| Event::AdmissionChanged(at, admission)),
        2 => (one(), preemption).prop_map(|(at, preemption)| Event::PreemptionChanged(at, preemption)),
        2 => (one(), reclaim()).prop_map(|(at, reclaim)| Event::ReclaimChanged(at, reclaim)),
        2 => (one(), eviction_rules()).prop_map(|(at, rules)| Event::EvictionChanged(at, rules)),
        3 => (one(), parent).prop_map(|(at, parent)| Event::ParentChanged(at, parent)),
        3 => one().prop_map(Event::QueueRecreated),
        1 => one().prop_map(Event::QueueLeaves),
        1 => (one(), queue()).prop_map(|(at, queue)| Event::SecondQueueCreated(at, queue)),
    ]
}

fn reclaim() -> impl Strategy<Value = Reclaim> {
    let from = prop_oneof![2 => Just(ReclaimFrom::Cluster), 1 => Just(ReclaimFrom::Subtree), 1 => Just(ReclaimFrom::Nothing)];
    (from, prop_oneof![2 => Just(0u32), 1 => 1u32..40])
        .prop_map(|(from, after_seconds)| Reclaim { from, after_seconds })
}

fn eviction_rules() -> impl Strategy<Value = EvictionRules> {
    let policy = prop_oneof![2 => Just(None), 1 => Just(Some(EvictionPolicy::Allowed)), 1 => Just(Some(EvictionPolicy::Never))];
    let seconds = || proptest::option::weighted(0.25, 1u32..90);
    let last_replica = proptest::option::weighted(0.25, Just(LastReplica::Never));
    let gangs = proptest::option::weighted(0.25, Just(GangPolicy::Never));
    (policy, seconds(), last_replica, gangs, seconds(), seconds()).prop_map(
        |(policy, min_runtime_seconds, last_replica, gangs, max_grace_seconds, force_after_seconds)| {
            EvictionRules {
                policy,
                min_runtime_seconds,
                last_replica,
                gangs,
                max_grace_seconds,
                force_after_seconds,
            }
        },
    )
}
