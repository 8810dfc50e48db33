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

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// One claimant, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What counts towards its level already.
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
pub fn fill(amount: i128, claims: &[Level], quantum: i128) -> Vec<i128> {
    let mut received = vec![0; claims.len()];
    let mut left = amount.max(0);
    for weightless in [false, true] {
        let claimants: Vec<Claimant> = claims
            .iter()
            .enumerate()
            .filter(|(_, claim)| claim.room > 0 && (claim.weight <= 0) == weightless)
            .map(|(index, claim)| Claimant {
                index,
                have: claim.have.max(0),
                room: claim.room,
                weight: claim.weight.max(1),
                span: rounded_up(claim.room, quantum),
            })
            .collect();
        for (index, units) in fill_claimants(left, &claimants, quantum) {
            left = left.saturating_sub(units);
            if let Some(entry) = received.get_mut(index) {
                *entry = units;
            }
        }
    }
    received
}

/// A claim with something to receive and a width.
#[derive(Clone, Copy)]
struct Claimant {
    index: usize,
    have: i128,
    room: i128,
    weight: i128,
    /// Its room as if its last quantum were whole.
    span: i128,
}

/// A level, as a fraction.
#[derive(Clone, Copy)]
pub(super) struct NormalizedShare {
    pub(super) units: i128,
    pub(super) weight: i128,
}

/// `amount` in whole quanta, rounded up.
pub(super) fn rounded_up(amount: i128, quantum: i128) -> i128 {
    match beyond(amount, quantum) {
        rest if rest > 0 => amount.saturating_add(quantum.saturating_sub(rest)),
        _ => amount,
    }
}

/// `amount` in whole quanta, rounded down.
pub(super) fn rounded_down(amount: i128, quantum: i128) -> i128 {
    amount.saturating_sub(beyond(amount, quantum))
}

/// What of `amount` is beyond whole quanta.
fn beyond(amount: i128, quantum: i128) -> i128 {
    let quickly = || small(amount)?.checked_rem(small(quantum)?);
    quickly().map_or_else(|| amount.checked_rem(quantum).unwrap_or(0), i128::from)
}

impl NormalizedShare {
    /// How many whole units a claimant of this width holds at this level.
    pub(super) fn units_of(self, width: i128) -> i128 {
        let quickly = || small(self.units)?.checked_mul(small(width)?)?.checked_div(small(self.weight)?);
        quickly().map_or_else(
            || self.units.saturating_mul(width).checked_div(self.weight).unwrap_or(0),
            i128::from,
        )
    }
}

/// `number` where it is so small that machines multiply and divide it quickly, as nearly all are.
fn small(number: i128) -> Option<i64> {
    i64::try_from(number).ok()
}

impl Ord for NormalizedShare {
    fn cmp(&self, other: &Self) -> Ordering {
        let times = |units: i128, weight: i128| small(units)?.checked_mul(small(weight)?);
        match (times(self.units, other.weight), times(other.units, self.weight)) {
            (Some(mine), Some(theirs)) => mine.cmp(&theirs),
            _ => self.units.saturating_mul(other.weight).cmp(&other.units.saturating_mul(self.weight)),
        }
    }
}

impl PartialEq for NormalizedShare {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NormalizedShare {}

impl PartialOrd for NormalizedShare {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn fill_claimants(amount: i128, claimants: &[Claimant], quantum: i128) -> Vec<(usize, i128)> {
    let wanted = claimants.iter().fold(0i128, |sum, claimant| sum.saturating_add(claimant.room));
    if wanted <= amount {
        return claimants.iter().map(|claimant| (claimant.index, claimant.room)).collect();
    }
    let level = exact_level(amount, claimants);
    let mut shares: Vec<(usize, i128)> = claimants
        .iter()
        .map(|claimant| (claimant.index, claimant.whole_quanta_below(level, quantum)))
        .collect();
    let handed_out = shares.iter().fold(0i128, |sum, (_, units)| sum.saturating_add(*units));
    hand_out_singly(amount.saturating_sub(handed_out), claimants, quantum, &mut shares);
    shares
}

impl Claimant {
    fn whole_quanta_below(&self, level: NormalizedShare, quantum: i128) -> i128 {
        let below = level.units_of(self.weight).saturating_sub(self.have);
        rounded_down(below, quantum).clamp(0, self.room)
    }

    fn start(&self) -> NormalizedShare {
        NormalizedShare { units: self.have, weight: self.weight }
    }

    fn end(&self) -> NormalizedShare {
        NormalizedShare { units: self.have.saturating_add(self.span), weight: self.weight }
    }
}

/// The level at which the claimants together would have received exactly `amount`, less than all their room, if all
/// quanta were whole: no quantum below it is left out.
fn exact_level(amount: i128, claimants: &[Claimant]) -> NormalizedShare {
    let mut points: Vec<(NormalizedShare, bool, &Claimant)> = claimants
        .iter()
        .flat_map(|claimant| [(claimant.start(), true, claimant), (claimant.end(), false, claimant)])
        .collect();
    points.sort_by_key(|(normalized, _, _)| *normalized);

    // Between two points, received(level) = full + level · width − counted.
    let (mut full, mut width, mut counted) = (0i128, 0i128, 0i128);
    for (normalized, starts, claimant) in points {
        let received_here = normalized
            .units
            .saturating_mul(width)
            .saturating_add(full.saturating_sub(counted).saturating_mul(normalized.weight));
        if received_here > amount.saturating_mul(normalized.weight) {
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
    NormalizedShare { units: amount.saturating_sub(full).saturating_add(counted), weight: width.max(1) }
}

/// Hands out what is left after each got the whole quanta below the level.
fn hand_out_singly(left: i128, claimants: &[Claimant], quantum: i128, shares: &mut [(usize, i128)]) {
    let next = |claimant: &Claimant, units: i128| NormalizedShare {
        units: claimant.have.saturating_add(units).saturating_add(quantum),
        weight: claimant.weight,
    };
    let mut queue: BinaryHeap<Reverse<(NormalizedShare, usize)>> = claimants
        .iter()
        .zip(shares.iter())
        .enumerate()
        .filter(|(_, (claimant, (_, units)))| *units < claimant.room)
        .map(|(at, (claimant, (_, units)))| Reverse((next(claimant, *units), at)))
        .collect();
    // Less than a quantum a claimant is left by rounding down, and as much by ends that are no whole quanta; with these
    // ends themselves that makes three turns. The bound keeps saturated nonsense from looping.
    let mut left = left;
    for _ in 0..claimants.len().saturating_mul(3) {
        let Some(Reverse((_, at))) = queue.pop().filter(|_| left > 0) else { return };
        if let (Some(claimant), Some((_, units))) = (claimants.get(at), shares.get_mut(at)) {
            let given = quantum.min(claimant.room.saturating_sub(*units)).min(left);
            *units = units.saturating_add(given);
            left = left.saturating_sub(given);
            if *units < claimant.room {
                queue.push(Reverse((next(claimant, *units), at)));
            }
        }
    }
}
