//! What is remembered of a plan says what a new one would, and time alone changes none before its time.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use quotient_advance::advance;
use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::OwnerUid;
use quotient_engine::plan::Plan;
use quotient_engine::planner::{Planner, plan};
use quotient_engine::snapshot::{
    Admission, GatePosition, LastReplica, NamespaceState, Pod, Preemption, SetAside, Snapshot,
};
use quotient_engine::time::Timestamp;

use crate::contents::leaves;
use crate::{effort, history, random, story};

/// What makes decisions depend on time, for one namespace.
#[derive(Clone, Debug)]
struct Ages {
    delay: u32,
    minimum: u32,
    force: Option<u32>,
    /// The most grace of a pod, and the deadline of those that terminate.
    grace: (Option<u32>, i64),
    last_replica: LastReplica,
    /// Since when an owner is set aside, and since when its pods are not Ready.
    idle: Option<(i64, i64)>,
}

prop_compose! {
    fn ages()(
        delay in prop_oneof![Just(0u32), 1u32..60],
        minimum in prop_oneof![Just(0u32), 850u32..1050],
        force in proptest::option::of(0u32..60),
        grace in (proptest::option::of(0u32..100), 900i64..1200),
        never in any::<bool>(),
        idle in proptest::option::weighted(0.4, (500i64..1000, 690i64..1000)),
    ) -> Ages {
        let last_replica = if never { LastReplica::Never } else { LastReplica::LastResort };
        Ages { delay, minimum, force, grace, last_replica, idle }
    }
}

prop_compose! {
    /// A cluster in which much depends on time.
    fn aging()(
        snapshot in random::cluster(5),
        ages in proptest::collection::vec(ages(), 6),
        expandable in proptest::option::weighted(0.3, 1i128..4000),
    ) -> Snapshot {
        let mut snapshot = snapshot;
        if let Some(cpu) = expandable {
            snapshot.settings.expandable = Amounts::from_iter([(Resource::Cpu, Amount::new(cpu))]);
        }
        for (state, ages) in snapshot.namespaces.values_mut().zip(&ages) {
            let state = Arc::make_mut(state);
            for queue in &mut state.queues {
                queue.reclaim.after_seconds = ages.delay;
                queue.eviction.min_runtime_seconds = Some(ages.minimum);
                queue.eviction.force_after_seconds = ages.force;
                queue.eviction.max_grace_seconds = ages.grace.0;
                queue.eviction.last_replica = Some(ages.last_replica);
                if let Some((since, _)) = ages.idle {
                    let since = Timestamp::from_seconds(since);
                    let entry = SetAside { since, times: u32::try_from(since.millis() / 1000 % 4).unwrap(), ..SetAside::default() };
                    queue.remembered.set_aside.insert(OwnerUid::from("owner-1"), entry);
                    queue.remembered.waiting.insert(OwnerUid::from("owner-2"), since);
                }
            }
            for pod in state.pods.iter_mut().filter(|pod| pod.is_terminating()) {
                pod.deletion = Some(Timestamp::from_seconds(ages.grace.1));
            }
            let of_idler = |pod: &&mut Pod| pod.owner().is_some_and(|owner| owner.as_str() == "owner-1");
            if let Some((_, since)) = ages.idle {
                for pod in state.pods.iter_mut().filter(of_idler) {
                    pod.stuck = Some(Timestamp::from_seconds(since));
                }
            }
        }
        snapshot
    }
}

/// Has `snapshot` remember what `plan` says; whether that is anything new.
fn remember(snapshot: &mut Snapshot, plan: &Plan) -> bool {
    let mut news = false;
    for (name, decided) in leaves(plan) {
        let state = snapshot.namespaces.get_mut(&name.namespace).unwrap();
        let is_new = |state: &NamespaceState| state.queues[0].remembered != decided.remember;
        if is_new(state) {
            Arc::make_mut(state).queues[0].remembered = decided.remember.clone();
            news = true;
        }
    }
    news
}

/// Something that happens to a cluster between two plans.
#[derive(Clone, Debug)]
enum Event {
    Nothing,
    Time(i64),
    Remembered,
    PodGone(Index, Index),
    PodStarts(Index, Index),
    NodeLost(Index),
    NamespaceGone(Index),
    Configured(i128),
    Step,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => Just(Event::Nothing),
        3 => (-5i64..200).prop_map(Event::Time),
        3 => Just(Event::Remembered),
        1 => any::<(Index, Index)>().prop_map(|(namespace, pod)| Event::PodGone(namespace, pod)),
        1 => any::<(Index, Index)>().prop_map(|(namespace, pod)| Event::PodStarts(namespace, pod)),
        1 => any::<Index>().prop_map(Event::NodeLost),
        1 => any::<Index>().prop_map(Event::NamespaceGone),
        1 => (0i128..3000).prop_map(Event::Configured),
        1 => Just(Event::Step),
    ]
}

fn some<T>(which: Index, mut all: Vec<T>) -> Option<T> {
    (!all.is_empty()).then(|| all.swap_remove(which.index(all.len())))
}

fn happen(snapshot: &mut Snapshot, event: &Event, last: &Plan) {
    match event {
        Event::Nothing => {}
        Event::Time(seconds) => snapshot.now = snapshot.now.plus_seconds(*seconds),
        Event::Remembered => {
            remember(snapshot, last);
        }
        Event::PodGone(namespace, pod) | Event::PodStarts(namespace, pod) => {
            let (starts, now) = (matches!(event, Event::PodStarts(..)), snapshot.now);
            let Some(state) = some(*namespace, snapshot.namespaces.values_mut().collect()) else { return };
            let pods = &mut Arc::make_mut(state).pods;
            if pods.is_empty() {
                return;
            }
            let at = pod.index(pods.len());
            if starts {
                pods[at].started = Some(now);
            } else {
                pods.remove(at);
            }
        }
        Event::NodeLost(which) => {
            if let Some(node) = some(*which, snapshot.nodes.values_mut().collect()) {
                Arc::make_mut(node).counts = false;
            }
        }
        Event::NamespaceGone(which) => {
            if let Some(name) = some(*which, snapshot.namespaces.keys().cloned().collect()) {
                snapshot.namespaces.remove(&name);
            }
        }
        Event::Configured(cpu) => {
            snapshot.settings.expandable = Amounts::from_iter([(Resource::Cpu, Amount::new(*cpu))]);
        }
        Event::Step => *snapshot = advance(snapshot, last).snapshot,
    }
}

/// A planner that follows `events` says what a plan says.
fn follows(mut snapshot: Snapshot, events: &[Event]) -> Result<(), TestCaseError> {
    let mut planner = Planner::new();
    let mut last = planner.plan(&snapshot);
    prop_assert_eq!(&*last, &plan(&snapshot));
    for event in events {
        // In place where no other holds it, as the index changes what it keeps.
        happen(&mut snapshot, event, &last);
        last = planner.plan(&snapshot);
        prop_assert_eq!(&*last, &plan(&snapshot), "after {:?}", event);
    }
    Ok(())
}

/// After some `steps` a plan is the same until it is due: at a `part` of that time, in thousandths, and just before its end.
fn stays(mut snapshot: Snapshot, steps: usize, part: u64) -> Result<(), TestCaseError> {
    for _ in 0..steps {
        let decided = plan(&snapshot);
        snapshot = advance(&snapshot, &decided).snapshot;
    }
    let mut decided = plan(&snapshot);
    let mut remembered = false;
    for _ in 0..5 {
        remembered = !remember(&mut snapshot, &decided);
        decided = plan(&snapshot);
    }
    prop_assert!(remembered, "what is remembered never rests");
    let end = decided.due().unwrap_or(snapshot.now.plus_seconds(5_000));
    prop_assert!(end > snapshot.now);
    let wait = end.millis_since(snapshot.now) - 1;
    for wait in [wait * i64::try_from(part).unwrap() / 1_000, wait] {
        let later =
            Snapshot { now: Timestamp::from_millis(snapshot.now.millis() + wait), ..snapshot.clone() };
        let then = plan(&later);
        let printed = || {
            let (before, after) = (story::print(1, &decided, &[]), story::print(2, &then, &[]));
            format!("{wait} ms later\n{}\n{before}\n{after}", history::describe(&snapshot))
        };
        prop_assert!(then == decided, "{}", printed());
    }
    Ok(())
}

/// `snapshot` with some of its queues in Gate mode, where pods without a node are gated, and preemption inside the others.
fn with_modes(mut snapshot: Snapshot, gated: &[bool]) -> Snapshot {
    for (state, is_gated) in snapshot.namespaces.values_mut().zip(gated.iter().cycle()) {
        let state = Arc::make_mut(state);
        for queue in state.queues.iter_mut().filter(|queue| queue.children.is_none()) {
            if *is_gated {
                queue.admission = Admission::Gate;
            } else {
                queue.preemption = Preemption::LowerPriority;
            }
        }
        for pod in state.pods.iter_mut().filter(|pod| *is_gated && pod.node.is_none()) {
            pod.gate = Some(GatePosition::default());
        }
    }
    snapshot
}

fn gated() -> impl Strategy<Value = Vec<bool>> {
    proptest::collection::vec(any::<bool>(), 6)
}

proptest! {
    #![proptest_config(effort::cases(1_500))]

    #[test]
    fn a_planner_says_what_a_plan_says(
        snapshot in aging(),
        events in proptest::collection::vec(event(), 1..12),
    ) {
        follows(snapshot, &events)?;
    }

    #[test]
    fn until_its_next_change_a_plan_is_the_same(
        snapshot in aging(),
        steps in 0usize..3,
        part in 0u64..1_000,
    ) {
        stays(snapshot, steps, part)?;
    }
}

proptest! {
    #![proptest_config(effort::cases(200))]

    #[test]
    fn a_planner_says_what_a_plan_says_in_every_mode(
        snapshot in aging(),
        events in proptest::collection::vec(event(), 1..12),
        gated in gated(),
    ) {
        follows(with_modes(snapshot, &gated), &events)?;
    }

    #[test]
    fn until_its_next_change_a_plan_is_the_same_in_every_mode(
        snapshot in aging(),
        steps in 0usize..3,
        part in 0u64..1_000,
        gated in gated(),
    ) {
        stays(with_modes(snapshot, &gated), steps, part)?;
    }
}

#[test]
fn the_same_input_gives_the_very_same_plan() {
    let mut snapshot = Snapshot::default();
    snapshot.namespaces.insert("a".into(), Arc::new(NamespaceState::default()));
    let mut planner = Planner::new();
    let first = planner.plan(&snapshot);
    snapshot.now = snapshot.now.plus_seconds(60);
    assert!(Arc::ptr_eq(&first, &planner.plan(&snapshot.clone())));
    // Only the planner holds it, so it is changed in place.
    Arc::make_mut(snapshot.namespaces.get_mut(&"a".into()).unwrap()).pods.clear();
    assert!(!Arc::ptr_eq(&first, &planner.plan(&snapshot)));
}
