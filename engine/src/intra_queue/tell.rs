//! The sizes to write, with reasons, once the preemption inside a queue is decided.

use super::Yielded;
use super::asks::{Ask, Kind};
use super::preemption_pass::PreemptionPass;
use super::queue_preemption::{Place, QueuePreemption};
use crate::plan::{PassedOver, PodId, Preemptor, Scaling};
use crate::reason::Reason;
use crate::snapshot::{Owner, OwnerKind, Pod};

/// Adds what came of the asks of one queue.
pub(super) fn tell(pass: &PreemptionPass<'_>, asks: &[Ask<'_>], yielded: &mut Yielded) {
    let queue_preemption = &pass.queue_preemption;
    for at in 0..queue_preemption.members.len() {
        let places: Vec<(Place, usize)> = queue_preemption.newly_chosen_of(at).collect();
        if !places.is_empty() {
            yielded.scalings.extend(lowered(queue_preemption, at, &places, asks));
        }
    }
    for (number, pods) in &pass.restored {
        yielded.scalings.extend(asks.get(*number).and_then(|ask| raised(queue_preemption, ask, *pods)));
    }
    let promised = yielded.promised.entry(queue_preemption.queue_state.name.clone()).or_default();
    for ask in pass.met.keys().filter_map(|number| asks.get(*number)) {
        if let (Preemptor::Owner(kind, name), true) = (&ask.who, ask.kind != Kind::HeldBack) {
            promised.insert((*kind, name.clone()));
        }
    }
    // The rules that keep pods are told only if other pods wait because of them.
    if let Some(highest) =
        pass.unmet.iter().filter_map(|number| asks.get(*number)).map(|ask| ask.priority).max()
    {
        yielded.passed_over.extend(kept(queue_preemption, highest));
    }
}

fn lowered(
    queue_preemption: &QueuePreemption<'_>,
    at: usize,
    places: &[(Place, usize)],
    asks: &[Ask<'_>],
) -> Option<Scaling> {
    let member = queue_preemption.members.get(at)?;
    let owner = member.owner;
    let stays = queue_preemption.staying(at).saturating_sub(places.len());
    let mut numbers: Vec<usize> = places.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut beneficiaries: Vec<Preemptor> = Vec::new();
    for ask in numbers.iter().filter_map(|number| asks.get(*number)) {
        if !beneficiaries.contains(&ask.who) {
            beneficiaries.push(ask.who.clone());
        }
    }
    let pods = |places: &mut dyn Iterator<Item = Place>| -> Vec<PodId> {
        places
            .filter_map(|place| queue_preemption.candidate(place))
            .map(|one| id(queue_preemption, one.pod))
            .collect()
    };
    let is_marked = |place: &Place| {
        queue_preemption.candidate(*place).is_some_and(|one| one.pod.deletion_cost == Scaling::MARK)
    };
    let has_marks = owner.kind == OwnerKind::ReplicaSet;
    let goes = || places.iter().map(|(place, _)| *place);
    let to_be_marked = |place: &Place| has_marks && place.1 >= member.fixed && !is_marked(place);
    let stays_marked = |place: &Place| has_marks && is_marked(place);
    Some(Scaling {
        namespace: queue_preemption.queue_state.name.namespace.clone(),
        queue: queue_preemption.queue_state.name.clone(),
        owner: owner.uid.clone(),
        setter: owner.size.setter.clone()?,
        from: owner.size.written,
        to: u32::try_from(stays).unwrap_or(u32::MAX),
        former: Some(owner.size.former.unwrap_or(owner.size.written)),
        pods: pods(&mut goes()),
        marks: pods(&mut goes().filter(to_be_marked)),
        lifts: pods(&mut queue_preemption.left_of(at).filter(stays_marked)),
        priority: owner.priority,
        beneficiaries,
        reason: Reason::Outranked,
    })
}

fn raised(queue_preemption: &QueuePreemption<'_>, ask: &Ask<'_>, pods: u32) -> Option<Scaling> {
    let owner =
        queue_preemption.queue_state.state.owners.iter().find(|owner| Some(&owner.uid) == ask.owner)?;
    if owner.size.left_alone.is_some() {
        return None;
    }
    let all = pods >= owner.size.held_back;
    let former = owner.size.former?;
    let to = if all { former } else { owner.size.written.saturating_add(pods).min(former) };
    Some(Scaling {
        namespace: queue_preemption.queue_state.name.namespace.clone(),
        queue: queue_preemption.queue_state.name.clone(),
        owner: owner.uid.clone(),
        setter: owner.size.setter.clone()?,
        from: owner.size.written,
        to,
        former: (!all).then_some(former),
        pods: Vec::new(),
        marks: Vec::new(),
        lifts: still_marked(queue_preemption, owner),
        priority: owner.priority,
        beneficiaries: Vec::new(),
        reason: Reason::Restored,
    })
}

/// The pods of `owner` that are marked and were not taken.
fn still_marked(queue_preemption: &QueuePreemption<'_>, owner: &Owner) -> Vec<PodId> {
    let pods = queue_preemption
        .queue_state
        .state
        .pods
        .iter()
        .filter(|pod| pod.is_live() && pod.owner() == Some(&owner.uid));
    let marked = pods.filter(|pod| pod.deletion_cost == Scaling::MARK && owner.kind == OwnerKind::ReplicaSet);
    marked.map(|pod| id(queue_preemption, pod)).collect()
}

/// The pods of a lower priority than `highest` that a rule kept.
fn kept(queue_preemption: &QueuePreemption<'_>, highest: i32) -> Vec<PassedOver> {
    let mut kept = Vec::new();
    for (at, member) in queue_preemption.members.iter().enumerate() {
        let places = member.surplus..member.pods.len();
        let free = places.filter(|pod| !queue_preemption.state_so_far.chosen.contains_key(&(at, *pod)));
        for pod in free {
            let Some(candidate) =
                queue_preemption.candidate((at, pod)).filter(|one| one.pod.priority < highest)
            else {
                continue;
            };
            if let Some(reason) = queue_preemption.rule((at, pod)) {
                kept.push(PassedOver {
                    pod: id(queue_preemption, candidate.pod),
                    queue: queue_preemption.queue_state.name.clone(),
                    reason,
                });
            }
        }
    }
    kept
}

fn id(queue_preemption: &QueuePreemption<'_>, pod: &Pod) -> PodId {
    PodId {
        namespace: queue_preemption.queue_state.name.namespace.clone(),
        name: pod.name.clone(),
        uid: pod.uid.clone(),
    }
}
