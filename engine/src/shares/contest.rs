//! What one of many siblings would get if it claimed something else, without dividing among all of them anew.
//!
//! All are sorted once by where their vessels start and end. The level at which everything is handed out is then
//! found by bisection, and only the vessels that are partly full there have to be looked at.

use super::level::{Height, rounded_down, rounded_up};
use super::{Claim, divide};
use crate::amounts::Amount;

/// Siblings and what they claim of one resource, prepared for questions.
pub(super) struct Contest {
    claims: Vec<Claim>,
    quantum: i128,
    /// What all are left by [`divide`] before the last round: what is held and the floors.
    ground: i128,
    /// What all ask for.
    wanted: Amount,
    /// Of those with a weight, what they ask for above the ground.
    room: i128,
    vessels: Vec<Vessel>,
    weighted: Slope,
    weightless: Slope,
}

/// A sibling as the last round of [`divide`] sees it.
#[derive(Clone, Copy, Default)]
struct Vessel {
    ground: i128,
    have: i128,
    room: i128,
    /// Its room as if its last quantum were whole.
    span: i128,
    weight: i128,
    weightless: bool,
}

impl Vessel {
    fn of(claim: &Claim, quantum: i128) -> Self {
        let demand = demand(claim);
        let (held, floor) = (claim.held.or_zero().units(), claim.guaranteed.min(demand).or_zero().units());
        let ground = held.max(floor);
        let room = demand.units().saturating_sub(ground).max(0);
        Self {
            ground,
            have: ground.saturating_sub(floor),
            room,
            span: rounded_up(room, quantum),
            weight: i128::from(claim.weight).max(1),
            weightless: claim.weight == 0,
        }
    }

    fn start(&self) -> Height {
        Height { units: self.have, weight: self.weight }
    }

    fn end(&self) -> Height {
        Height { units: self.have.saturating_add(self.span), weight: self.weight }
    }

    /// What it receives before somebody whose next quantum reaches `height`, whom it precedes in ties or not.
    fn before(&self, height: Height, precedes: bool, quantum: i128) -> i128 {
        let below = rounded_down(height.units_of(self.weight).saturating_sub(self.have), quantum);
        // A turn at just that height comes later, unless ties go to it.
        let reached = Height { units: self.have.saturating_add(below), weight: self.weight };
        let turns = if !precedes && reached == height { below.saturating_sub(quantum) } else { below };
        turns.clamp(0, self.room)
    }

    /// What it has received when the level stands at `level`, as a whole.
    fn below(&self, level: Height, quantum: i128) -> i128 {
        let below = level.units_of(self.weight).saturating_sub(self.have);
        rounded_down(below, quantum).clamp(0, self.room)
    }
}

fn demand(claim: &Claim) -> Amount {
    claim.demand.max(claim.held).or_zero()
}

/// How much vessels have received together at every level: straight lines between the points where one starts or
/// ends.
#[derive(Default)]
struct Slope {
    points: Vec<Point>,
    /// The vessels by where they end, highest first.
    by_end: Vec<(Height, usize)>,
    /// What they receive in the end.
    room: i128,
}

/// From `height` on, all have received `full + level · width − counted`.
#[derive(Clone, Copy)]
struct Point {
    height: Height,
    full: i128,
    width: i128,
    counted: i128,
}

impl Slope {
    fn new(vessels: &[Vessel], weightless: bool) -> Self {
        let members = || {
            vessels.iter().enumerate().filter(move |(_, one)| one.weightless == weightless && one.room > 0)
        };
        let mut turns: Vec<(Height, bool, &Vessel)> = members()
            .flat_map(|(_, vessel)| [(vessel.start(), true, vessel), (vessel.end(), false, vessel)])
            .collect();
        turns.sort_by_key(|(height, _, _)| *height);
        let (mut full, mut width, mut counted) = (0i128, 0i128, 0i128);
        let mut points = Vec::with_capacity(turns.len());
        for (height, starts, vessel) in turns {
            if starts {
                width = width.saturating_add(vessel.weight);
                counted = counted.saturating_add(vessel.have);
            } else {
                width = width.saturating_sub(vessel.weight);
                counted = counted.saturating_sub(vessel.have);
                full = full.saturating_add(vessel.span);
            }
            points.push(Point { height, full, width, counted });
        }
        let mut by_end: Vec<(Height, usize)> = members().map(|(at, vessel)| (vessel.end(), at)).collect();
        by_end.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let room = members().fold(0i128, |sum, (_, vessel)| sum.saturating_add(vessel.room));
        Self { points, by_end, room }
    }

    /// The last point at or below which no more than `amount` is received by all of it, `out` being exchanged for
    /// `into`; and what lies beyond: the lines up to the next point.
    fn level(&self, amount: i128, out: &Vessel, into: &Vessel) -> Height {
        let received = |height: Height, point: Option<&Point>| -> Fraction {
            let (full, width, counted) = point.map_or((0, 0, 0), |p| (p.full, p.width, p.counted));
            let line = |width: i128, rest: i128| {
                height.units.saturating_mul(width).saturating_add(rest.saturating_mul(height.weight))
            };
            let all = line(width, full.saturating_sub(counted));
            Fraction {
                over: all.saturating_sub(portion(out, height)).saturating_add(portion(into, height)),
                under: height.weight,
            }
        };
        let fits = |fraction: Fraction| fraction.over <= amount.saturating_mul(fraction.under);
        // Where the exchanged vessels turn the line turns too, so they are points of their own.
        let at = self.points.partition_point(|point| fits(received(point.height, Some(point))));
        let before = at.checked_sub(1).and_then(|at| self.points.get(at));
        let mut low = before.map_or(Height { units: 0, weight: 1 }, |point| point.height);
        for turn in [out.start(), out.end(), into.start(), into.end()] {
            if turn > low
                && fits(received(turn, before))
                && self.points.get(at).is_none_or(|p| turn <= p.height)
            {
                low = turn;
            }
        }
        // On the stretch from here everything is straight.
        let (full, width, counted) = before.map_or((0, 0, 0), |p| (p.full, p.width, p.counted));
        let (out_full, out_width, out_counted) = stretch(out, low);
        let (in_full, in_width, in_counted) = stretch(into, low);
        let full = full.saturating_sub(out_full).saturating_add(in_full);
        let width = width.saturating_sub(out_width).saturating_add(in_width);
        let counted = counted.saturating_sub(out_counted).saturating_add(in_counted);
        Height { units: amount.saturating_sub(full).saturating_add(counted), weight: width.max(1) }
    }
}

struct Fraction {
    over: i128,
    under: i128,
}

/// What `vessel` has received at `height`, times the height's weight.
fn portion(vessel: &Vessel, height: Height) -> i128 {
    let level = height.units.saturating_mul(vessel.weight);
    let have = vessel.have.saturating_mul(height.weight);
    level.saturating_sub(have).clamp(0, vessel.span.saturating_mul(height.weight))
}

/// The line of `vessel` just above `height`.
fn stretch(vessel: &Vessel, height: Height) -> (i128, i128, i128) {
    if height < vessel.start() || vessel.room == 0 {
        (0, 0, 0)
    } else if height < vessel.end() {
        (0, vessel.weight, vessel.have)
    } else {
        (vessel.span, 0, 0)
    }
}

impl Contest {
    pub(super) fn new(claims: Vec<Claim>, quantum: i128) -> Self {
        let vessels: Vec<Vessel> = claims.iter().map(|claim| Vessel::of(claim, quantum)).collect();
        let sum = |of: &dyn Fn(&Vessel) -> i128| {
            vessels.iter().fold(0i128, |sum, vessel| sum.saturating_add(of(vessel)))
        };
        Self {
            wanted: claims.iter().map(demand).sum(),
            ground: sum(&|vessel| vessel.ground),
            room: sum(&|vessel| if vessel.weightless { 0 } else { vessel.room }),
            weighted: Slope::new(&vessels, false),
            weightless: Slope::new(&vessels, true),
            vessels,
            quantum,
            claims,
        }
    }

    /// What [`divide`] would give the one at `position` of `capacity` if it claimed `claim` instead.
    pub(super) fn share_of(&self, position: usize, claim: Claim, capacity: Amount) -> Amount {
        let Some(before) = self.claims.get(position) else { return Amount::ZERO };
        let Some(out) = self.vessels.get(position) else { return Amount::ZERO };
        let into = Vessel::of(&claim, self.quantum);
        if self.wanted - demand(before) + demand(&claim) <= capacity {
            return demand(&claim);
        }
        let all = capacity.or_zero().units();
        let left = all.saturating_sub(self.ground).saturating_add(out.ground).saturating_sub(into.ground);
        if left < 0 || out.weightless != into.weightless {
            // Not even what is held and the floors fit: they are divided themselves.
            return self.divided(position, claim, capacity);
        }
        let weighted = if into.weightless {
            self.room
        } else {
            self.room.saturating_sub(out.room).saturating_add(into.room)
        };
        let (slope, amount) = if into.weightless {
            (&self.weightless, left.saturating_sub(weighted).max(0))
        } else {
            (&self.weighted, left.min(weighted))
        };
        let received = if !into.weightless && weighted <= left {
            into.room
        } else {
            self.received(slope, amount, position, out, &into)
        };
        Amount::new(into.ground.saturating_add(received))
    }

    /// The whole quanta below the level, and those of the few that remain whose turn comes in time.
    fn received(&self, slope: &Slope, amount: i128, position: usize, out: &Vessel, into: &Vessel) -> i128 {
        let level = slope.level(amount, out, into);
        let mut mine = into.below(level, self.quantum);
        // Whoever ends below the level is full to a whole, so only the others have something to receive.
        let mut others: Vec<(usize, &Vessel, i128)> = Vec::new();
        let mut handed_out = mine;
        let mut partly = 0i128;
        for (end, at) in &slope.by_end {
            if *end <= level {
                break;
            }
            let Some(vessel) = self.vessels.get(*at).filter(|_| *at != position) else { continue };
            let received = vessel.below(level, self.quantum);
            partly = partly.saturating_add(vessel.room);
            handed_out = handed_out.saturating_add(received);
            others.push((*at, vessel, received));
        }
        let everyone = slope.room.saturating_sub(out.room);
        let full = everyone.saturating_sub(partly);
        let left = amount.saturating_sub(full).saturating_sub(handed_out);
        let mut own = 0i128;
        while mine < into.room {
            let units = into.have.saturating_add(mine).saturating_add(self.quantum);
            let next = Height { units, weight: into.weight };
            let earlier = others.iter().fold(own, |sum, (at, vessel, received)| {
                let before = vessel.before(next, *at < position, self.quantum);
                sum.saturating_add(before.saturating_sub(*received))
            });
            if earlier >= left {
                break;
            }
            let last = left.saturating_sub(earlier);
            let given = self.quantum.min(into.room.saturating_sub(mine)).min(last);
            mine = mine.saturating_add(given);
            own = own.saturating_add(given);
        }
        mine
    }

    fn divided(&self, position: usize, claim: Claim, capacity: Amount) -> Amount {
        let mut claims = self.claims.clone();
        if let Some(entry) = claims.get_mut(position) {
            *entry = claim;
        }
        divide(capacity, &claims, self.quantum).get(position).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim() -> impl Strategy<Value = Claim> {
        (0i128..40, 0i128..20, prop_oneof![4 => Just(0i128), 1 => 0i128..20], 0u32..5).prop_map(
            |(demand, guaranteed, held, weight)| Claim {
                demand: Amount::new(demand),
                guaranteed: Amount::new(guaranteed.min(demand)),
                held: Amount::new(held),
                weight,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn the_answer_is_what_division_says(
            claims in proptest::collection::vec(claim(), 1..8),
            at in 0usize..8,
            more in 0i128..300,
            capacity in 0i128..200,
            quantum in 1i128..4,
        ) {
            let at = at % claims.len();
            let contest = Contest::new(claims.clone(), quantum);
            let asked = Claim { demand: Amount::new(more), ..claims[at] };
            let mut others = claims;
            others[at] = asked;
            let capacity = Amount::new(capacity);
            prop_assert_eq!(contest.share_of(at, asked, capacity), divide(capacity, &others, quantum)[at]);
        }
    }
}
