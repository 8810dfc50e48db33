//! Dividing a room among gangs.

use std::cmp::Reverse;
use std::sync::Arc;

use super::claim::{CompetingPods, GangClaim, GangSlots};
use super::room::{ResourceVec, Resources, Room};
use super::surplus;
use crate::amounts::{Amounts, Resource};
use crate::time::Timestamp;

/// Who waits: a gang, by its place among the claims, or refused pods of others.
enum Waiting<'a> {
    Gang(usize),
    Others(&'a CompetingPods),
}

/// Divides `room` among `claims`; an entry for each, in their order.
///
/// `room` is what the queue's other pods leave of what it may have, `whole` what dominant shares are parts of. Only
/// `resources` count. The order of `claims` and `competing` makes no difference, and with what comes out as what runs the
/// division comes out the same (S-GANG §Use Case).
///
/// What `competing` are owed is left free for them: like the floor of a gang that waits it comes out of what others have above
/// theirs, so that neither ever waits for surplus pods.
///
/// Where tasks of several shapes compete, what runs decides which of a gang's pods is next, and that may decide who else
/// still fits. So it goes on as if what came out did run, until that changes nothing: a choice is a fixed point.
pub fn divide(
    room: &Amounts,
    claims: &[GangClaim],
    competing: &[CompetingPods],
    whole: &Amounts,
    resources: &[Resource],
) -> Vec<GangSlots> {
    let mut slots = divide_once(room, claims, competing, whole, resources);
    if claims.iter().all(|claim| claim.tasks.len() < 2) {
        return slots;
    }
    let mut claims = claims.to_vec();
    for _ in 0..MOST_ROUNDS {
        for (claim, slots) in claims.iter_mut().zip(&slots) {
            claim.admitted = slots.fits;
            claim.tasks.iter_mut().zip(&slots.tasks).for_each(|(task, count)| task.running = *count);
        }
        let again = divide_once(room, &claims, competing, whole, resources);
        if again == slots {
            break;
        }
        slots = again;
    }
    slots
}

/// More rounds than any division has needed.
const MOST_ROUNDS: usize = 8;

fn divide_once(
    room: &Amounts,
    claims: &[GangClaim],
    competing: &[CompetingPods],
    whole: &Amounts,
    resources: &[Resource],
) -> Vec<GangSlots> {
    let resources = Resources(resources);
    let whole = resources.vector(whole);
    let mut left = Room(resources.vector(room));
    let vectors: Vec<Vec<ResourceVec>> = claims
        .iter()
        .map(|claim| claim.tasks.iter().map(|task| resources.vector(&task.requests)).collect())
        .collect();
    let floors: Vec<Vec<u32>> = claims.iter().map(GangClaim::floors).collect();
    let mut slots: Vec<GangSlots> =
        claims.iter().map(|claim| GangSlots { fits: false, tasks: vec![0; claim.tasks.len()] }).collect();

    let let_in = |at: usize, left: &mut Room, slots: &mut [GangSlots]| {
        let (Some(vectors), Some(floors), Some(slots)) = (vectors.get(at), floors.get(at), slots.get_mut(at))
        else {
            return;
        };
        if left.take_all(vectors, floors) {
            *slots = GangSlots { fits: true, tasks: floors.clone() };
        }
    };
    for waiting in in_turn(claims, competing) {
        match waiting {
            Waiting::Gang(at) => {
                let_in(at, &mut left, &mut slots);
                surplus::give_one(at, &mut left, claims, &vectors, &mut slots);
            }
            Waiting::Others(competing_pods) => {
                let vector = resources.vector(&competing_pods.requests);
                left.take(&vector, left.fitting(&vector, competing_pods.pods));
            }
        }
    }
    surplus::hand_out(&mut left, claims, &vectors, &whole, &mut slots);
    slots
}

/// All in the order in which they are let in: gangs that were let in, those before that nothing has taken apart; then those that
/// wait, and for one pod gangs all of whose floor has succeeded, so that they come to their end.
fn in_turn<'a>(claims: &'a [GangClaim], competing: &'a [CompetingPods]) -> Vec<Waiting<'a>> {
    let gangs = claims.iter().enumerate().map(|(at, claim)| {
        let waits = !claim.admitted || claim.needs_nothing();
        ((waits, !waits && !claim.intact, key(claim), false), Waiting::Gang(at))
    });
    let others = competing.iter().map(|competing_pods| {
        let key = (Reverse(competing_pods.priority), competing_pods.created, &competing_pods.name);
        ((true, false, key, true), Waiting::Others(competing_pods))
    });
    let mut all: Vec<(Turn<'a>, Waiting<'a>)> = gangs.chain(others).collect();
    all.sort_by_key(|(turn, _)| *turn);
    all.into_iter().map(|(_, waiting)| waiting).collect()
}

/// Whether it waits; whether it was taken apart; [`Key`]; whether it is no gang.
type Turn<'a> = (bool, bool, Key<'a>, bool);

/// By priority, then by age, then by name.
type Key<'a> = (Reverse<i32>, Timestamp, &'a Arc<str>);

fn key(claim: &GangClaim) -> Key<'_> {
    (Reverse(claim.priority), claim.created, &claim.name)
}
