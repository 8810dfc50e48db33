//! Releasing: of the victims that were chosen only those go that are needed (S-HARDEN §Other victims are left untouched).
//!
//! Victims are chosen for one scope, one queue and one ask after the other; what a later one frees may make an earlier
//! one's victims unneeded. At last every victim is looked at once more, most protected first.

use std::collections::{BTreeMap, BTreeSet};

use super::balance::Balance;
use super::books::Books;
use super::nodes::{At, Rooms};
use super::order::rank;
use super::scope::{Scope, missing};
use super::take::Case;
use super::victim::Victim;
use crate::amounts::{Amount, Amounts, Resource};
use crate::names::GangName;
use crate::tree::Index;

/// What was to be freed in one scope, and is no longer needed because it would help nobody.
pub(super) struct Served {
    pub(super) scope: Scope,
    pub(super) promised: Amounts,
    pub(super) unfenced: Amounts,
    /// What the asks that no room could be made for would have needed.
    pub(super) waived: Amounts,
}

/// Drops every victim without which just as much is covered.
pub(super) fn release<'a>(
    case: &Case<'a>,
    books: &mut Books<'a>,
    served: &[Served],
    mut rooms: Option<&mut Rooms<'a>>,
) {
    if books.victims.len() < 2 {
        return;
    }
    let mut slack: Vec<(Scope, Amounts)> =
        served.iter().map(|served| (served.scope, slack(case, &books.balance, served))).collect();
    let mut whole: BTreeSet<(Index, GangName)> = books
        .victims
        .iter()
        .filter(|victim| victim.candidate.gang.is_some())
        .filter_map(|victim| Some((victim.at, victim.candidate.pod.gang()?.name.clone())))
        .collect();
    let mut freed: BTreeMap<Index, Amounts> = BTreeMap::new();
    for victim in &books.victims {
        freed.entry(victim.at).or_default().add_all(&victim.candidate.all_requests());
    }
    let mut order: Vec<usize> = (0..books.victims.len()).collect();
    order.sort_by(|a, b| match (books.victims.get(*a), books.victims.get(*b)) {
        (Some(a), Some(b)) => rank(&b.candidate, &a.candidate).then_with(|| b.at.cmp(&a.at)),
        _ => a.cmp(b),
    });
    if let Some(rooms) = rooms.as_deref_mut() {
        // Whoever goes for his queue's sake leaves room on his node, too.
        for victim in books.victims.iter().filter(|victim| victim.makes_room.is_none()) {
            for pod in victim.candidate.pods() {
                if let Some(at) = pod.node.as_ref().and_then(|node| rooms.find(node)) {
                    rooms.give(at, pod.requests());
                }
            }
        }
    }
    let mut released: BTreeSet<usize> = BTreeSet::new();
    for number in order {
        let Some(victim) = books.victims.get(number) else { continue };
        let gang = victim.candidate.pod.gang().map(|gang| (victim.at, gang.name.clone()));
        // Who goes with a gang that is taken as a whole stays only if it stays.
        if victim.candidate.gang.is_none() && gang.as_ref().is_some_and(|gang| whole.contains(gang)) {
            continue;
        }
        let Some(freed) = freed.get_mut(&victim.at) else { continue };
        let requests = victim.candidate.all_requests();
        let Some(lost) = lost_without(case, victim.at, &requests, freed, &slack) else { continue };
        if rooms.as_deref_mut().is_none_or(|rooms| spare_rooms(rooms, victim)) {
            *freed = freed.less(&requests);
            for (scope, slack) in &mut slack {
                if scope.contains(case.tree, victim.at) {
                    *slack = slack.less(&lost);
                }
            }
            if let Some(gang) = gang {
                whole.remove(&gang);
            }
            released.insert(number);
        }
    }
    let mut number = 0usize;
    books.victims.retain(|_| {
        let stays = !released.contains(&number);
        number = number.saturating_add(1);
        stays
    });
}

/// Takes the room of `victim` back, on every node that it is on; changes nothing if that cannot be.
fn spare_rooms(rooms: &mut Rooms<'_>, victim: &Victim<'_>) -> bool {
    let mut spared: Vec<(At, &Amounts)> = Vec::new();
    for pod in victim.candidate.pods() {
        let Some(at) = pod.node.as_ref().and_then(|node| rooms.find(node)) else { continue };
        if !rooms.spare(at, pod.requests()) {
            for (at, requests) in spared {
                rooms.give(at, requests);
            }
            return false;
        }
        spared.push((at, pod.requests()));
    }
    true
}

/// How much more was freed in a scope than was needed.
fn slack(case: &Case<'_>, balance: &Balance, served: &Served) -> Amounts {
    let lacks = missing(
        served.scope,
        case.tree,
        balance,
        &served.promised,
        &served.unfenced,
        case.capacity,
        &case.resources,
    );
    let held = match served.scope {
        Scope::Limit(at) => balance.settled.get(at).cloned().unwrap_or_default(),
        Scope::Fence(_) | Scope::Cluster => Balance::everywhere(case.tree, &balance.settled),
    };
    let all = |resource: &Resource| match served.scope {
        Scope::Limit(at) => {
            case.tree.branches.get(at).map(|branch| branch.limit(resource)).unwrap_or_default()
        }
        Scope::Fence(_) => case.capacity.get(resource) - served.unfenced.get(resource),
        Scope::Cluster => case.capacity.get(resource),
    };
    case.resources
        .iter()
        .map(|resource| {
            let needed = held.get(resource) + served.promised.get(resource) - served.waived.get(resource);
            let free = all(resource).less(needed);
            let free = if lacks.get(resource) > served.waived.get(resource) { Amount::ZERO } else { free };
            ((*resource).clone(), free)
        })
        .collect()
}

/// What others lose if a victim of the leaf at `at` stays that requests `requests`, if that can be spared; none if it has
/// to go.
fn lost_without(
    case: &Case<'_>,
    at: Index,
    requests: &Amounts,
    freed: &Amounts,
    slack: &[(Scope, Amounts)],
) -> Option<Amounts> {
    let party = case.party(at)?;
    let mut lost = Amounts::new();
    for resource in &case.resources {
        let (with, without) = (freed.get(resource), freed.get(resource).less(requests.get(resource)));
        let above_limit = party.above_limit(resource);
        if with.min(above_limit) > without {
            return None;
        }
        let overuse = party.overuse(resource);
        lost.set(resource, with.min(overuse) - without.min(overuse));
    }
    let spared =
        slack.iter().filter(|(scope, _)| scope.contains(case.tree, at)).all(|(_, slack)| lost.fits_in(slack));
    spared.then_some(lost)
}
