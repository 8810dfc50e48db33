//! What an event does to the cluster.

use std::sync::Arc;

use quotient_engine::labels::Selector;
use quotient_engine::names::{Namespace, NodeName, PodName, PodUid, QueueName, QueueUid};
use quotient_engine::snapshot::{
    Budget, NamespaceState, Node, Owner, OwnerKind, Phase, Pod, Queue, Remembered, Shape, Snapshot,
};
use quotient_engine::time::Timestamp;

use super::beginning::named;
use super::{Event, bounds};
use crate::contents::charged;

/// Lets `event`, the `number`th of its history, happen. What there is nothing of does not happen.
pub(crate) fn happen(snapshot: &mut Snapshot, number: usize, event: &Event) {
    match event {
        Event::TimePasses(seconds) => {
            snapshot.now = snapshot.now.plus_seconds(*seconds);
            let now = snapshot.now;
            for state in snapshot.namespaces.values_mut().map(Arc::make_mut) {
                state.pods.retain(|pod| pod.deletion.is_none_or(|deadline| deadline > now));
                state.queues.iter_mut().for_each(|queue| restart(&mut queue.remembered));
            }
        }
        Event::OwnerCreated(at, owner) => {
            let created = snapshot.now;
            let Some((name, state)) = pick_namespace(snapshot, *at, |_| true) else { return };
            let owner = named(owner.clone(), &name, &format!("e{number}"));
            state.owners.push(Owner { created, ..owner });
        }
        Event::OwnerDeleted(at) => {
            let deadline = snapshot.now.plus_seconds(30);
            let Some((state, at)) = pick_owner(snapshot, *at) else { return };
            let owner = state.owners.remove(at);
            for pod in state.pods.iter_mut().filter(|pod| pod.owner() == Some(&owner.uid)) {
                pod.deletion = pod.deletion.or(Some(deadline));
            }
        }
        Event::OwnerScaled(at, wanted) => {
            let Some((state, at)) = pick_owner(snapshot, *at) else { return };
            let owner = &mut state.owners[at];
            if owner.wanted != *wanted {
                (owner.wanted, owner.generation) = (*wanted, owner.generation + 1);
            }
        }
        Event::BarePodCreated(at, shape) => create_bare_pod(snapshot, *at, number, shape),
        Event::PodFinished(at) => {
            let Some((state, at)) = pick_pod(snapshot, *at, |pod| pod.phase == Phase::Running) else {
                return;
            };
            state.pods[at].phase = Phase::Finished;
            let owner = state.pods[at].owner().cloned();
            let of_job = |one: &&mut Owner| one.kind == OwnerKind::Job && Some(&one.uid) == owner.as_ref();
            if let Some(job) = state.owners.iter_mut().find(of_job) {
                job.wanted = job.wanted.saturating_sub(1);
            }
        }
        Event::PodDeleted(at) => {
            let deadline = snapshot.now.plus_seconds(30);
            change_pod(snapshot, *at, |pod| pod.deletion = Some(deadline));
        }
        Event::NodeLost(at) => drop(change_node(snapshot, *at, |node| node.counts = false)),
        Event::NodeBack(at) => drop(change_node(snapshot, *at, |node| node.counts = true)),
        Event::NodeGone(at) => {
            let Some(name) = pick(snapshot.nodes.keys().cloned().collect(), *at) else { return };
            snapshot.nodes.remove(&name);
            for state in snapshot.namespaces.values_mut() {
                Arc::make_mut(state).pods.retain(|pod| pod.node.as_ref() != Some(&name));
            }
        }
        Event::NodeAdded(node) => {
            snapshot.nodes.insert(NodeName::new(format!("e{number}")), Arc::new(node.clone()));
        }
        Event::WeightChanged(at, weight) => change_queue(snapshot, *at, |queue| queue.weight = *weight),
        Event::RequestChanged(at, request) => {
            change_queue(snapshot, *at, |queue| queue.request = request.map(bounds).unwrap_or_default());
        }
        Event::GuaranteedChanged(at, size) => {
            change_queue(snapshot, *at, |queue| queue.guaranteed = bounds(*size));
        }
        Event::LimitChanged(at, size) => change_queue(snapshot, *at, |queue| queue.limit = bounds(*size)),
        Event::QueueDeleted(at) => {
            let Some((state, at)) = pick_queue(snapshot, *at) else { return };
            state.queues.remove(at);
        }
        Event::QueueCreated(at, queue) => {
            let created = snapshot.now;
            let Some((name, state)) = pick_namespace(snapshot, *at, |state| !is_governed(state)) else {
                return;
            };
            let uid = QueueUid::new(format!("{name}-{number}"));
            state.queues.push(Queue { uid, created, ..queue.clone() });
        }
        Event::ParentsCreated(parents) => {
            let org = snapshot.namespaces.get_mut(&Namespace::from("org")).unwrap();
            for parent in parents {
                if org.queues.iter().all(|standing| standing.name != parent.name) {
                    let uid = QueueUid::new(format!("{}-{number}", parent.name));
                    Arc::make_mut(org).queues.push(Queue { uid, ..parent.clone() });
                }
            }
        }
        Event::BudgetChanged(at, allowed) => {
            let Some((_, state)) = pick_namespace(snapshot, *at, |_| true) else { return };
            let budget = Budget {
                name: "all".into(),
                selector: Selector::default(),
                allowed: *allowed,
                lets_unready_go: allowed % 2 == 1,
            };
            state.budgets = vec![budget];
        }
        other => intervene(snapshot, number, other),
    }
}

fn intervene(snapshot: &mut Snapshot, number: usize, event: &Event) {
    match event {
        Event::NodeChanged(at, node) => drop(change_node(snapshot, *at, |standing| {
            standing.allocatable.clone_from(&node.allocatable);
            standing.labels.clone_from(&node.labels);
        })),
        Event::NodeDrained(at) => {
            let Some(name) = change_node(snapshot, *at, |node| node.counts = false) else { return };
            let now = snapshot.now;
            let states = snapshot.namespaces.values_mut().map(Arc::make_mut);
            let pods = states.flat_map(|state| &mut state.pods);
            pods.filter(|pod| pod.is_live() && pod.node.as_ref() == Some(&name))
                .for_each(|pod| evict(pod, now, 30));
        }
        Event::PodEvicted(at, seconds) => {
            let now = snapshot.now;
            change_pod(snapshot, *at, |pod| evict(pod, now, *seconds));
        }
        Event::PodsDeleted(at) => {
            let deadline = snapshot.now.plus_seconds(30);
            let Some((_, state)) = pick_namespace(snapshot, *at, |_| true) else { return };
            let live = state.pods.iter_mut().filter(|pod| pod.is_live());
            live.for_each(|pod| pod.deletion = Some(deadline));
        }
        Event::PodKilled(at) => {
            let Some((state, at)) = pick_pod(snapshot, *at, Pod::is_live) else { return };
            state.pods.remove(at);
        }
        Event::PodFailed(at) => change_pod(snapshot, *at, |pod| pod.phase = Phase::Finished),
        Event::PodHangs(at) => {
            let long_ago = snapshot.now.plus_seconds(-61);
            change_pod(snapshot, *at, |pod| pod.deletion = Some(long_ago));
        }
        other => change_spec(snapshot, number, other),
    }
}

/// A user evicts `pod`.
fn evict(pod: &mut Pod, now: Timestamp, seconds: u32) {
    (pod.evicted, pod.deletion_seconds) = (true, seconds);
    pod.deletion = Some(now.plus_seconds(seconds.into()));
}

fn change_spec(snapshot: &mut Snapshot, number: usize, event: &Event) {
    let now = snapshot.now;
    match event {
        Event::OperatorModeChanged(mode) => snapshot.settings.mode = *mode,
        Event::ModeChanged(at, mode) => change_queue(snapshot, *at, |queue| queue.mode = *mode),
        Event::PauseChanged(at, seconds) => {
            let until = seconds.map(|seconds| now.plus_seconds(seconds));
            change_queue(snapshot, *at, |queue| queue.paused_until = until);
        }
        Event::AdmissionChanged(at, admission) => {
            change_queue(snapshot, *at, |queue| queue.admission = *admission);
        }
        Event::PreemptionChanged(at, preemption) => {
            change_queue(snapshot, *at, |queue| queue.preemption = *preemption);
        }
        Event::ReclaimChanged(at, reclaim) => change_queue(snapshot, *at, |queue| queue.reclaim = *reclaim),
        Event::EvictionChanged(at, rules) => change_queue(snapshot, *at, |queue| queue.eviction = *rules),
        Event::ParentChanged(at, parent) => {
            change_queue(snapshot, *at, |queue| {
                queue.parent = parent.map(|name| QueueName::new("org", name));
            });
        }
        Event::QueueRecreated(at) => change_queue(snapshot, *at, |queue| {
            (queue.uid, queue.created) = (QueueUid::new(format!("{}-{number}", queue.uid)), now);
            (queue.remembered, queue.leaving) = (Remembered::default(), false);
        }),
        Event::QueueLeaves(at) => change_queue(snapshot, *at, |queue| queue.leaving = true),
        Event::SecondQueueCreated(at, queue) => {
            let Some((name, state)) = pick_namespace(snapshot, *at, is_governed) else { return };
            let second = format!("second-{number}");
            let uid = QueueUid::new(format!("{name}-{second}"));
            state.queues.push(Queue { uid, name: second.into(), created: now, ..queue.clone() });
        }
        other => unreachable!("{other:?} is no change of a spec"),
    }
}

fn is_governed(state: &NamespaceState) -> bool {
    !state.queues.is_empty()
}

fn pick<T>(mut from: Vec<T>, at: usize) -> Option<T> {
    let at = at.checked_rem(from.len())?;
    Some(from.swap_remove(at))
}

/// One of the namespaces that hold pods and are as asked for.
fn pick_namespace(
    snapshot: &mut Snapshot,
    at: usize,
    is: impl Fn(&NamespaceState) -> bool,
) -> Option<(Namespace, &mut NamespaceState)> {
    let fitting = snapshot.namespaces.iter().filter(|(name, state)| name.as_str() != "org" && is(state));
    let name = pick(fitting.map(|(name, _)| name.clone()).collect(), at)?;
    let state = snapshot.namespaces.get_mut(&name)?;
    Some((name, Arc::make_mut(state)))
}

/// One of those that `places` says of every namespace: its namespace and its place there.
pub(crate) fn pick_in(
    snapshot: &mut Snapshot,
    at: usize,
    places: impl Fn(&NamespaceState) -> Vec<usize>,
) -> Option<(&mut NamespaceState, usize)> {
    let all = snapshot.namespaces.iter();
    let all = all.flat_map(|(name, state)| places(state).into_iter().map(|place| (name.clone(), place)));
    let (name, place) = pick(all.collect(), at)?;
    Some((Arc::make_mut(snapshot.namespaces.get_mut(&name)?), place))
}

fn pick_owner(snapshot: &mut Snapshot, at: usize) -> Option<(&mut NamespaceState, usize)> {
    pick_in(snapshot, at, |state| (0..state.owners.len()).collect())
}

pub(crate) fn pick_pod(
    snapshot: &mut Snapshot,
    at: usize,
    is: impl Fn(&Pod) -> bool,
) -> Option<(&mut NamespaceState, usize)> {
    pick_in(snapshot, at, |state| (0..state.pods.len()).filter(|index| is(&state.pods[*index])).collect())
}

/// One of all queues, parents included.
fn pick_queue(snapshot: &mut Snapshot, at: usize) -> Option<(&mut NamespaceState, usize)> {
    pick_in(snapshot, at, |state| (0..state.queues.len()).collect())
}

fn change_queue(snapshot: &mut Snapshot, at: usize, change: impl FnOnce(&mut Queue)) {
    if let Some((state, at)) = pick_queue(snapshot, at) {
        change(&mut state.queues[at]);
    }
}

fn change_pod(snapshot: &mut Snapshot, at: usize, change: impl FnOnce(&mut Pod)) {
    if let Some((state, at)) = pick_pod(snapshot, at, Pod::is_live) {
        change(&mut state.pods[at]);
    }
}

/// Changes one of the nodes, and says which.
fn change_node(snapshot: &mut Snapshot, at: usize, change: impl FnOnce(&mut Node)) -> Option<NodeName> {
    let name = pick(snapshot.nodes.keys().cloned().collect(), at)?;
    change(Arc::make_mut(snapshot.nodes.get_mut(&name)?));
    Some(name)
}

fn create_bare_pod(snapshot: &mut Snapshot, at: usize, number: usize, shape: &Arc<Shape>) {
    let created = snapshot.now;
    let Some((namespace, state)) = pick_namespace(snapshot, at, |_| true) else { return };
    let mut charged = charged(state);
    charged.add_all(&shape.requests);
    let admitted = shape.requests.resources().all(|resource| {
        let bound = state.quota.as_ref().and_then(|quota| quota.enforced.get(resource));
        bound.is_none_or(|bound| charged.get(resource) <= bound)
    });
    if admitted {
        let name = format!("bare-{number}");
        state.pods.push(Pod {
            uid: PodUid::new(format!("{namespace}/{name}")),
            name: PodName::new(name),
            shape: Arc::clone(shape),
            created,
            ..Pod::default()
        });
    }
}

/// An operator that starts knows only what statuses say.
fn restart(remembered: &mut Remembered) {
    remembered.waiting.clone_from(&remembered.not_created);
    remembered.room_since = None;
    remembered.proven.clear();
}
