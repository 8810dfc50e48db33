//! What is to be written, and why, once it is decided who of a queue yields to whom.

use super::Yielded;
use super::asks::{Ask, Kind};
use super::household::{Household, Place};
use super::meet::Meeting;
use crate::plan::{Asker, PassedOver, PodId, Scaling};
use crate::reason::Reason;
use crate::snapshot::{Owner, OwnerKind, Pod};

/// Adds what came of the asks of one queue.
pub(super) fn tell(meeting: &Meeting<'_>, asks: &[Ask<'_>], yielded: &mut Yielded) {
    let household = &meeting.household;
    for at in 0..household.members.len() {
        let places: Vec<(Place, usize)> = household.newly_chosen_of(at).collect();
        if !places.is_empty() {
            yielded.scalings.extend(lowered(household, at, &places, asks));
        }
    }
    for (number, pods) in &meeting.restored {
        yielded.scalings.extend(asks.get(*number).and_then(|ask| raised(household, ask, *pods)));
    }
    let promised = yielded.promised.entry(household.party.name.clone()).or_default();
    for ask in meeting.met.keys().filter_map(|number| asks.get(*number)) {
        if let (Asker::Owner(kind, name), true) = (&ask.who, ask.kind != Kind::HeldBack) {
            promised.insert((*kind, name.clone()));
        }
    }
    // What keeps pods matters where somebody goes without because of it.
    if let Some(highest) =
        meeting.unmet.iter().filter_map(|number| asks.get(*number)).map(|ask| ask.priority).max()
    {
        yielded.passed_over.extend(kept(household, highest));
    }
}

fn lowered(
    household: &Household<'_>,
    at: usize,
    places: &[(Place, usize)],
    asks: &[Ask<'_>],
) -> Option<Scaling> {
    let member = household.members.get(at)?;
    let owner = member.owner;
    let stays = household.staying(at).saturating_sub(places.len());
    let mut numbers: Vec<usize> = places.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut beneficiaries: Vec<Asker> = Vec::new();
    for ask in numbers.iter().filter_map(|number| asks.get(*number)) {
        if !beneficiaries.contains(&ask.who) {
            beneficiaries.push(ask.who.clone());
        }
    }
    let pods = |places: &mut dyn Iterator<Item = Place>| -> Vec<PodId> {
        places.filter_map(|place| household.candidate(place)).map(|one| id(household, one.pod)).collect()
    };
    let is_marked =
        |place: &Place| household.candidate(*place).is_some_and(|one| one.pod.deletion_cost == Scaling::MARK);
    let has_marks = owner.kind == OwnerKind::ReplicaSet;
    let goes = || places.iter().map(|(place, _)| *place);
    let to_be_marked = |place: &Place| has_marks && place.1 >= member.fixed && !is_marked(place);
    let stays_marked = |place: &Place| has_marks && is_marked(place);
    Some(Scaling {
        namespace: household.party.name.namespace.clone(),
        queue: household.party.name.clone(),
        owner: owner.uid.clone(),
        setter: owner.size.setter.clone()?,
        from: owner.size.written,
        to: u32::try_from(stays).unwrap_or(u32::MAX),
        former: Some(owner.size.former.unwrap_or(owner.size.written)),
        pods: pods(&mut goes()),
        marks: pods(&mut goes().filter(to_be_marked)),
        lifts: pods(&mut household.left_of(at).filter(stays_marked)),
        priority: owner.priority,
        beneficiaries,
        reason: Reason::Outranked,
    })
}

fn raised(household: &Household<'_>, ask: &Ask<'_>, pods: u32) -> Option<Scaling> {
    let owner = household.party.state.owners.iter().find(|owner| Some(&owner.uid) == ask.owner)?;
    if owner.size.left_alone.is_some() {
        return None;
    }
    let all = pods >= owner.size.held_back;
    let former = owner.size.former?;
    let to = if all { former } else { owner.size.written.saturating_add(pods).min(former) };
    Some(Scaling {
        namespace: household.party.name.namespace.clone(),
        queue: household.party.name.clone(),
        owner: owner.uid.clone(),
        setter: owner.size.setter.clone()?,
        from: owner.size.written,
        to,
        former: (!all).then_some(former),
        pods: Vec::new(),
        marks: Vec::new(),
        lifts: still_marked(household, owner),
        priority: owner.priority,
        beneficiaries: Vec::new(),
        reason: Reason::Restored,
    })
}

/// The pods of `owner` that are marked and were not taken.
fn still_marked(household: &Household<'_>, owner: &Owner) -> Vec<PodId> {
    let pods =
        household.party.state.pods.iter().filter(|pod| pod.is_live() && pod.owner() == Some(&owner.uid));
    let marked = pods.filter(|pod| pod.deletion_cost == Scaling::MARK && owner.kind == OwnerKind::ReplicaSet);
    marked.map(|pod| id(household, pod)).collect()
}

/// The pods of a lower priority than `highest` that a rule kept.
fn kept(household: &Household<'_>, highest: i32) -> Vec<PassedOver> {
    let mut kept = Vec::new();
    for (at, member) in household.members.iter().enumerate() {
        let places = member.surplus..member.pods.len();
        let free = places.filter(|pod| !household.books.chosen.contains_key(&(at, *pod)));
        for pod in free {
            let Some(candidate) = household.candidate((at, pod)).filter(|one| one.pod.priority < highest)
            else {
                continue;
            };
            if let Some(reason) = household.rule((at, pod)) {
                kept.push(PassedOver {
                    pod: id(household, candidate.pod),
                    queue: household.party.name.clone(),
                    reason,
                });
            }
        }
    }
    kept
}

fn id(household: &Household<'_>, pod: &Pod) -> PodId {
    PodId { namespace: household.party.name.namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() }
}
