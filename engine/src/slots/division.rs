//! Dividing a room among gangs.

use std::cmp::Reverse;
use std::sync::Arc;

use super::claim::{CompetingPods, GangClaim, GangSlots, SlotRoom};
use super::gang::Gang;
use super::room::{ResourceVec, Room, vector};
use super::surplus;
use crate::amounts::{Amounts, Resource};
use crate::time::Timestamp;

/// What waits: a gang, or refused pods of others.
enum Waiting<'g, 'a> {
    Gang(&'g mut Gang<'a>),
    Others(&'a CompetingPods),
}

/// What is left of a room that is divided.
struct Left {
    all: Room,
    /// Of what stays when pods of the gangs go, beside the floors of gangs that were let in.
    lasting: Room,
    /// Beside all pods that run.
    free: Room,
}

impl Left {
    /// What gangs may have that wait: what stays when others go for them, or what none has to go for.
    fn for_waiting(&self) -> Room {
        self.all.min(&self.lasting.max(&self.free))
    }

    /// Takes `pods` pods of `vector` away, which are new.
    fn take(&mut self, vector: &ResourceVec, pods: u32) {
        for room in [&mut self.all, &mut self.lasting, &mut self.free] {
            room.take(vector, pods);
        }
    }
}

/// Divides `room` among `claims`; an entry for each, in their order.
///
/// `whole` is what dominant shares are parts of. Only `resources` count.
///
/// The order of `claims` and `competing` makes no difference, and with what comes out as what runs the division comes out the
/// same (S-GANG §Use Case).
///
/// What `competing` are owed is left free for them: like the floor of a gang that waits it comes out of what others have above
/// theirs, so that neither ever waits for surplus pods.
///
/// Where tasks of several shapes compete, what runs decides which of a gang's pods is next, and that may decide who else
/// still fits. So it goes on as if what came out did run, until that changes nothing: a choice is a fixed point.
pub fn divide(
    room: &SlotRoom,
    claims: &[GangClaim],
    competing: &[CompetingPods],
    whole: &Amounts,
    resources: &[Resource],
) -> Vec<GangSlots> {
    let whole = vector(resources, whole);
    let divide_once = |claims: &[GangClaim]| -> Vec<GangSlots> {
        let mut gangs: Vec<Gang<'_>> = claims.iter().map(|claim| Gang::new(claim, resources)).collect();
        let [all, lasting] = [&room.all, &room.lasting].map(|amounts| Room(vector(resources, amounts)));
        let mut left = Left { free: all.clone(), lasting, all };
        for gang in &gangs {
            left.free.take(&gang.running(), 1);
        }
        for waiting in in_turn(&mut gangs, competing) {
            match waiting {
                Waiting::Gang(gang) if gang.claim.admitted => {
                    gang.let_in(&mut left.all);
                    left.lasting.take(&gang.used, 1);
                }
                Waiting::Gang(gang) => {
                    gang.let_in(&mut left.for_waiting());
                    left.take(&gang.used, 1);
                }
                Waiting::Others(pods) => {
                    let requested = vector(resources, &pods.requests);
                    left.take(&requested, left.for_waiting().fitting(&requested, pods.pods));
                }
            }
        }
        surplus::hand_out(&mut left.all, &mut gangs, &whole);
        gangs.into_iter().map(|gang| gang.slots).collect()
    };
    let mut slots = divide_once(claims);
    if claims.iter().all(|claim| claim.tasks.len() < 2) {
        return slots;
    }
    let mut claims = claims.to_vec();
    for _ in 0..MOST_ROUNDS {
        for (claim, slots) in claims.iter_mut().zip(&slots) {
            claim.admitted = slots.fits;
            claim.tasks.iter_mut().zip(&slots.tasks).for_each(|(task, count)| task.running = *count);
        }
        let again = divide_once(&claims);
        if again == slots {
            break;
        }
        slots = again;
    }
    slots
}

/// Whether `claim` would have what it needs, and a slot, if it were alone in `room`.
pub(crate) fn fits_alone(room: &Amounts, claim: &GangClaim, resources: &[Resource]) -> bool {
    let mut gang = Gang::new(claim, resources);
    gang.let_in(&mut Room(vector(resources, room)));
    gang.slots.fits && gang.slots.total() > 0
}

/// More rounds than any division has needed.
const MOST_ROUNDS: usize = 8;

/// All in the order in which they are let in: gangs that were let in, those before that nothing has taken apart; then those that
/// wait, and for one pod gangs all of whose floor has succeeded, so that they come to their end.
fn in_turn<'g, 'a>(gangs: &'g mut [Gang<'a>], competing: &'a [CompetingPods]) -> Vec<Waiting<'g, 'a>> {
    let gangs = gangs.iter_mut().map(|gang| {
        let claim = gang.claim;
        let waits = !claim.admitted || claim.needs_nothing();
        let key = (Reverse(claim.priority), claim.created, &claim.name);
        ((waits, !waits && !claim.intact, key, false), Waiting::Gang(gang))
    });
    let others = competing.iter().map(|pods| {
        let key = (Reverse(pods.priority), pods.created, &pods.name);
        ((true, false, key, true), Waiting::Others(pods))
    });
    let mut all: Vec<(Turn<'a>, Waiting<'g, 'a>)> = gangs.chain(others).collect();
    all.sort_by_key(|(turn, _)| *turn);
    all.into_iter().map(|(_, waiting)| waiting).collect()
}

/// Whether it waits; whether it was taken apart; by priority, then by age, then by name; whether it is no gang.
type Turn<'a> = (bool, bool, (Reverse<i32>, Timestamp, &'a Arc<str>), bool);
