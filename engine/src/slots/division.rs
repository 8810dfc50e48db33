//! Dividing a room among gangs.

use std::cmp::Reverse;
use std::sync::Arc;

use super::claim::{GangClaim, GangSlots, Rival};
use super::room::{Line, Resources, Room};
use super::surplus;
use crate::amounts::{Amounts, Resource};
use crate::time::Timestamp;

/// Who waits: a gang, by its place among the claims, or refused pods of others.
enum Waiting<'a> {
    Gang(usize),
    Others(&'a Rival),
}

/// Divides `room` among `claims`; an entry for each, in their order.
///
/// `room` is what the queue's other pods leave of what it may have, `whole` what dominant shares are parts of. Only
/// `resources` count. The order of `claims` and `rivals` makes no difference, and with what comes out as what runs the
/// division comes out the same (S-GANG §Use Case).
///
/// What `rivals` are owed is left free for them: like the floor of a gang that waits it comes out of what others have above
/// theirs, so that neither ever waits for surplus pods.
///
/// Where tasks of several shapes compete, what runs decides which of a gang's pods is next, and that may decide who else
/// still fits. So it goes on as if what came out did run, until that changes nothing: a choice is a fixed point.
pub fn divide(
    room: &Amounts,
    claims: &[GangClaim],
    rivals: &[Rival],
    whole: &Amounts,
    resources: &[Resource],
) -> Vec<GangSlots> {
    let mut slots = divide_once(room, claims, rivals, whole, resources);
    if claims.iter().all(|claim| claim.tasks.len() < 2) {
        return slots;
    }
    let mut claims = claims.to_vec();
    for _ in 0..MOST_ROUNDS {
        for (claim, slots) in claims.iter_mut().zip(&slots) {
            claim.admitted = slots.fits;
            claim.tasks.iter_mut().zip(&slots.tasks).for_each(|(task, count)| task.running = *count);
        }
        let again = divide_once(room, &claims, rivals, whole, resources);
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
    rivals: &[Rival],
    whole: &Amounts,
    resources: &[Resource],
) -> Vec<GangSlots> {
    let resources = Resources(resources);
    let whole = resources.line(whole);
    let mut left = Room(resources.line(room));
    let lines: Vec<Vec<Line>> = claims
        .iter()
        .map(|claim| claim.tasks.iter().map(|task| resources.line(&task.requests)).collect())
        .collect();
    let floors: Vec<Vec<u32>> = claims.iter().map(GangClaim::floors).collect();
    let mut slots: Vec<GangSlots> =
        claims.iter().map(|claim| GangSlots { fits: false, tasks: vec![0; claim.tasks.len()] }).collect();

    let let_in = |at: usize, left: &mut Room, slots: &mut [GangSlots]| {
        let (Some(lines), Some(floors), Some(slots)) = (lines.get(at), floors.get(at), slots.get_mut(at))
        else {
            return;
        };
        if left.take_all(lines, floors) {
            *slots = GangSlots { fits: true, tasks: floors.clone() };
        }
    };
    for waiting in in_turn(claims, rivals) {
        match waiting {
            Waiting::Gang(at) => {
                let_in(at, &mut left, &mut slots);
                surplus::give_one(at, &mut left, claims, &lines, &mut slots);
            }
            Waiting::Others(rival) => {
                let line = resources.line(&rival.requests);
                left.take(&line, left.fitting(&line, rival.pods));
            }
        }
    }
    surplus::hand_out(&mut left, claims, &lines, &whole, &mut slots);
    slots
}

/// All in the order in which they are let in: gangs that were let in, those before that nothing has taken apart; then those that
/// wait, and for one pod gangs all of whose floor has succeeded, so that they come to their end.
fn in_turn<'a>(claims: &'a [GangClaim], rivals: &'a [Rival]) -> Vec<Waiting<'a>> {
    let gangs = claims.iter().enumerate().map(|(at, claim)| {
        let waits = !claim.admitted || claim.needs_nothing();
        ((waits, !waits && !claim.intact, key(claim), false), Waiting::Gang(at))
    });
    let others = rivals.iter().map(|rival| {
        let key = (Reverse(rival.priority), rival.created, &rival.name);
        ((true, false, key, true), Waiting::Others(rival))
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
