//! Raising levels: the divisor rule that every share and every grant is handed out by.
//!
//! A claimant is as wide as its weight and filled up to its level. The lowest level is filled first. Handing out one quantum
//! at a time to the claimant that would have the lowest level with it is the divisor rule. It is monotone: more capacity
//! lowers no share. Rounding by largest remainder is not: weights 6, 6, 2 share 10 as 5/4/1 and 11 as 5/5/1, where largest
//! remainders would say 4/4/2 and then 5/5/1.
//!
//! Amounts need not be whole quanta. The last quantum of a claimant is as small as what still fits, though its turn comes
//! as if it were whole, and the last one of all is what is left: a claimant that asks for more never gets less, and not a unit
//! is lost.
//!
//! Amounts reach 2^63, so quanta are not counted out one by one: the exact level is found by walking the sorted
//! points where claimants start and end, each gets the whole quanta below it, and the few quanta that remain, at most
//! three for every claim, are handed out singly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::fraction::{Fraction, small};

/// One claimant, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// What counts toward its level already.
    pub have: i128,
    /// The most that it takes on top.
    pub room: i128,
    /// Its width. Zero: it takes only what no other demands.
    pub weight: i128,
}

/// Hands out `amount` units in quanta of `quantum` and says how much each claim receives.
///
/// Each next quantum goes to the lowest `(have + received + quantum) / weight`, ties to the earlier claim. The sum is
/// `min(amount, Σ room)`. Claims of weight zero come after all others, among themselves with equal weights.
pub(crate) fn fill(amount: i128, claims: &[Level], quantum: i128) -> Vec<i128> {
    let mut received = vec![0; claims.len()];
    let mut left = amount.max(0);
    for weightless in [false, true] {
        let mut claimants: Vec<Claimant> = claims
            .iter()
            .enumerate()
            .filter(|(_, claim)| claim.room > 0 && (claim.weight <= 0) == weightless)
            .map(|(index, claim)| Claimant {
                index,
                have: claim.have.max(0),
                room: claim.room,
                weight: claim.weight.max(1),
                span: rounded_up(claim.room, quantum),
                received: 0,
            })
            .collect();
        fill_claimants(left, &mut claimants, quantum);
        for claimant in claimants {
            left = left.saturating_sub(claimant.received);
            if let Some(entry) = received.get_mut(claimant.index) {
                *entry = claimant.received;
            }
        }
    }
    received
}

/// A claim with something to receive and a width.
struct Claimant {
    index: usize,
    have: i128,
    room: i128,
    weight: i128,
    /// Its room as if its last quantum were whole.
    span: i128,
    received: i128,
}

/// `amount` in whole quanta, rounded up.
fn rounded_up(amount: i128, quantum: i128) -> i128 {
    match beyond(amount, quantum) {
        rest if rest > 0 => amount.saturating_add(quantum.saturating_sub(rest)),
        _ => amount,
    }
}

/// `amount` in whole quanta, rounded down.
pub(crate) fn rounded_down(amount: i128, quantum: i128) -> i128 {
    amount.saturating_sub(beyond(amount, quantum))
}

/// What of `amount` is beyond whole quanta.
fn beyond(amount: i128, quantum: i128) -> i128 {
    let quickly = || small(amount)?.checked_rem(small(quantum)?);
    quickly().map_or_else(|| amount.checked_rem(quantum).unwrap_or(0), i128::from)
}

/// How many whole units a claimant of this width holds at this level.
fn units_at(level: Fraction, width: i128) -> i128 {
    let quickly = || small(level.part)?.checked_mul(small(width)?)?.checked_div(small(level.whole)?);
    quickly()
        .map_or_else(|| level.part.saturating_mul(width).checked_div(level.whole).unwrap_or(0), i128::from)
}

fn fill_claimants(amount: i128, claimants: &mut [Claimant], quantum: i128) {
    let wanted = claimants.iter().fold(0i128, |sum, claimant| sum.saturating_add(claimant.room));
    if wanted <= amount {
        for claimant in claimants {
            claimant.received = claimant.room;
        }
        return;
    }
    let level = exact_level(amount, claimants);
    let mut left = amount;
    for claimant in &mut *claimants {
        claimant.received = claimant.whole_quanta_below(level, quantum);
        left = left.saturating_sub(claimant.received);
    }
    hand_out_singly(left, claimants, quantum);
}

impl Claimant {
    fn whole_quanta_below(&self, level: Fraction, quantum: i128) -> i128 {
        let below = units_at(level, self.weight).saturating_sub(self.have);
        rounded_down(below, quantum).clamp(0, self.room)
    }

    fn start(&self) -> Fraction {
        Fraction { part: self.have, whole: self.weight }
    }

    fn end(&self) -> Fraction {
        Fraction { part: self.have.saturating_add(self.span), whole: self.weight }
    }
}

/// The level at which the claimants together would have received exactly `amount`, less than all their room, if all
/// quanta were whole: no quantum below it is left out.
fn exact_level(amount: i128, claimants: &[Claimant]) -> Fraction {
    let starts = claimants.iter().map(|claimant| (claimant.start(), true, claimant));
    let ends = claimants.iter().map(|claimant| (claimant.end(), false, claimant));
    let mut points: Vec<(Fraction, bool, &Claimant)> = starts.chain(ends).collect();
    points.sort_by_key(|(level, _, _)| *level);

    // Between two points, received(level) = full + level · width − counted.
    let (mut full, mut width, mut counted) = (0i128, 0i128, 0i128);
    for (level, starts, claimant) in points {
        let received_here = level
            .part
            .saturating_mul(width)
            .saturating_add(full.saturating_sub(counted).saturating_mul(level.whole));
        if received_here > amount.saturating_mul(level.whole) {
            break;
        }
        if starts {
            width = width.saturating_add(claimant.weight);
            counted = counted.saturating_add(claimant.have);
        } else {
            width = width.saturating_sub(claimant.weight);
            counted = counted.saturating_sub(claimant.have);
            full = full.saturating_add(claimant.span);
        }
    }
    Fraction { part: amount.saturating_sub(full).saturating_add(counted), whole: width.max(1) }
}

/// Hands out what is `left` after each got the whole quanta below the level.
fn hand_out_singly(mut left: i128, claimants: &mut [Claimant], quantum: i128) {
    let next = |claimant: &Claimant| Fraction {
        part: claimant.have.saturating_add(claimant.received).saturating_add(quantum),
        whole: claimant.weight,
    };
    let open = claimants.iter().enumerate().filter(|(_, claimant)| claimant.received < claimant.room);
    let mut queue: BinaryHeap<Reverse<(Fraction, usize)>> =
        open.map(|(at, claimant)| Reverse((next(claimant), at))).collect();
    // Less than a quantum a claimant is left by rounding down, and as much by ends that are no whole quanta; with these
    // ends themselves that makes three turns. The bound keeps saturated nonsense from looping.
    for _ in 0..claimants.len().saturating_mul(3) {
        let Some(Reverse((_, at))) = queue.pop().filter(|_| left > 0) else { return };
        let Some(claimant) = claimants.get_mut(at) else { return };
        let given = quantum.min(claimant.room.saturating_sub(claimant.received)).min(left);
        claimant.received = claimant.received.saturating_add(given);
        left = left.saturating_sub(given);
        if claimant.received < claimant.room {
            queue.push(Reverse((next(claimant), at)));
        }
    }
}
