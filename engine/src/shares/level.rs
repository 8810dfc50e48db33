//! Raising levels: the divisor rule that every share and every grant is handed out by.
//!
//! Think of claims as vessels, each as wide as its weight and partly full. Water goes to the lowest level
//! first. Handing out one quantum at a time to the lowest level *after* receiving it is the divisor rule; it is
//! monotone (more water lowers nobody), which rounding by largest remainder is not: weights 6, 6, 2 share
//! 10 as 5/4/1 and 11 as 5/5/1, where largest remainders would say 4/4/2 and then 5/5/1.
//!
//! Amounts reach 2^63, so quanta are not counted out one by one: the exact level is found by walking the sorted
//! points where vessels start and end, everybody gets the whole quanta below it, and the fewer than
//! *number of claims* quanta that remain are handed out singly.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// One vessel, in quanta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What counts towards its level already.
    pub have: i128,
    /// The most that it takes on top.
    pub room: i128,
    /// Its width. Zero: it takes only what nobody else wants.
    pub weight: i128,
}

/// Hands out `amount` quanta and says how many each claim receives.
///
/// Each next quantum goes to the lowest `(have + received + 1) / weight`, ties to the earlier claim. The sum is
/// `min(amount, Σ room)`. Claims of weight zero come after all others, among themselves with equal weights.
pub fn fill(amount: i128, claims: &[Level]) -> Vec<i128> {
    let mut received = vec![0; claims.len()];
    let mut left = amount.max(0);
    for weightless in [false, true] {
        let vessels: Vec<Vessel> = claims
            .iter()
            .enumerate()
            .filter(|(_, claim)| claim.room > 0 && (claim.weight <= 0) == weightless)
            .map(|(index, claim)| Vessel {
                index,
                have: claim.have.max(0),
                room: claim.room,
                weight: claim.weight.max(1),
            })
            .collect();
        for (index, quanta) in fill_vessels(left, &vessels) {
            left = left.saturating_sub(quanta);
            if let Some(entry) = received.get_mut(index) {
                *entry = quanta;
            }
        }
    }
    received
}

/// A claim with something to receive and a width.
#[derive(Clone, Copy)]
struct Vessel {
    index: usize,
    have: i128,
    room: i128,
    weight: i128,
}

/// A level, as a fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Height {
    pub(super) quanta: i128,
    pub(super) weight: i128,
}

impl Ord for Height {
    fn cmp(&self, other: &Self) -> Ordering {
        self.quanta.saturating_mul(other.weight).cmp(&other.quanta.saturating_mul(self.weight))
    }
}

impl PartialOrd for Height {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn fill_vessels(amount: i128, vessels: &[Vessel]) -> Vec<(usize, i128)> {
    let wanted = vessels.iter().fold(0i128, |sum, vessel| sum.saturating_add(vessel.room));
    if wanted <= amount {
        return vessels.iter().map(|vessel| (vessel.index, vessel.room)).collect();
    }
    let level = exact_level(amount, vessels);
    let mut shares: Vec<(usize, i128)> =
        vessels.iter().map(|vessel| (vessel.index, vessel.whole_quanta_below(level))).collect();
    let handed_out = shares.iter().fold(0i128, |sum, (_, quanta)| sum.saturating_add(*quanta));
    hand_out_singly(amount.saturating_sub(handed_out), vessels, &mut shares);
    shares
}

impl Vessel {
    fn whole_quanta_below(&self, level: Height) -> i128 {
        let full = level.quanta.saturating_mul(self.weight).checked_div(level.weight).unwrap_or(0);
        full.saturating_sub(self.have).clamp(0, self.room)
    }

    fn start(&self) -> Height {
        Height { quanta: self.have, weight: self.weight }
    }

    fn end(&self) -> Height {
        Height { quanta: self.have.saturating_add(self.room), weight: self.weight }
    }
}

/// The level at which the vessels together have received exactly `amount`, less than all their room.
fn exact_level(amount: i128, vessels: &[Vessel]) -> Height {
    let mut points: Vec<(Height, bool, &Vessel)> = vessels
        .iter()
        .flat_map(|vessel| [(vessel.start(), true, vessel), (vessel.end(), false, vessel)])
        .collect();
    points.sort_by_key(|(height, _, _)| *height);

    // Between two points, received(level) = full + level · width − counted.
    let (mut full, mut width, mut counted) = (0i128, 0i128, 0i128);
    for (height, starts, vessel) in points {
        let received_here = height
            .quanta
            .saturating_mul(width)
            .saturating_add(full.saturating_sub(counted).saturating_mul(height.weight));
        if received_here > amount.saturating_mul(height.weight) {
            break;
        }
        if starts {
            width = width.saturating_add(vessel.weight);
            counted = counted.saturating_add(vessel.have);
        } else {
            width = width.saturating_sub(vessel.weight);
            counted = counted.saturating_sub(vessel.have);
            full = full.saturating_add(vessel.room);
        }
    }
    Height { quanta: amount.saturating_sub(full).saturating_add(counted), weight: width.max(1) }
}

/// Hands out what is left after everybody got the whole quanta below the exact level.
fn hand_out_singly(left: i128, vessels: &[Vessel], shares: &mut [(usize, i128)]) {
    let next = |vessel: &Vessel, quanta: i128| Height {
        quanta: vessel.have.saturating_add(quanta).saturating_add(1),
        weight: vessel.weight,
    };
    let mut queue: BinaryHeap<Reverse<(Height, usize)>> = vessels
        .iter()
        .zip(shares.iter())
        .enumerate()
        .filter(|(_, (vessel, (_, quanta)))| *quanta < vessel.room)
        .map(|(at, (vessel, (_, quanta)))| Reverse((next(vessel, *quanta), at)))
        .collect();
    // Fewer than one quantum a vessel can be left; the bound keeps saturated nonsense from looping.
    let rounds = usize::try_from(left.max(0)).unwrap_or(usize::MAX).min(vessels.len());
    for _ in 0..rounds {
        let Some(Reverse((_, at))) = queue.pop() else { return };
        if let (Some(vessel), Some((_, quanta))) = (vessels.get(at), shares.get_mut(at)) {
            *quanta = quanta.saturating_add(1);
            if *quanta < vessel.room {
                queue.push(Reverse((next(vessel, *quanta), at)));
            }
        }
    }
}
