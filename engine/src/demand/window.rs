//! The window: demand rises at once and falls only after a while, and no faster than pods leave.
//!
//! Demand that comes and goes every minute would otherwise evict every minute. And what pods on their way out hold is
//! of no other queue before they are gone: shares that moved as soon as a victim begins to leave would choose another one.

use crate::amounts::Amounts;
use crate::snapshot::Remembered;
use crate::time::{Timestamp, earliest};

/// How long demand has to stay below what it was before it falls.
const SECONDS: i64 = 30;

/// Lets the demand that is remembered follow `raw`, the demand of this instant, where `leaving` is still held by pods on their
/// way out. When it falls next, if it does.
pub(super) fn follow(
    remember: &mut Remembered,
    raw: Amounts,
    leaving: &Amounts,
    now: Timestamp,
) -> Option<Timestamp> {
    let before = std::mem::replace(&mut remember.demand, raw);
    let falling = std::mem::take(&mut remember.falling);
    let mut next_change = None;
    for (one, kept) in before.iter() {
        let raw = remember.demand.get(one);
        if raw >= kept {
            continue;
        }
        // Never in the future: a clock was wrong.
        let since = falling.get(one).copied().unwrap_or(now).min(now);
        let until = since.plus_seconds(SECONDS);
        let held = if until > now { kept } else { kept.min(raw + leaving.get(one)) };
        if until > now {
            next_change = earliest(next_change, Some(until));
        }
        if held > raw {
            remember.demand.set(one, held);
            remember.falling.insert(one.clone(), since);
        }
    }
    next_change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::{Amount, Resource};

    fn cpu(units: i128) -> Amounts {
        [(Resource::Cpu, Amount::new(units))].into_iter().collect()
    }

    /// Whose grace is longer than the window holds its room until it is gone, and as long no other queue has it.
    #[test]
    fn demand_falls_no_faster_than_pods_leave() {
        let mut remember = Remembered { demand: cpu(3000), ..Remembered::default() };
        let mut demand = Vec::new();
        for (now, raw, leaving) in [(0, 0, 3000), (40, 0, 3000), (50, 500, 2000), (60, 500, 0)] {
            follow(&mut remember, cpu(raw), &cpu(leaving), Timestamp::from_seconds(now));
            demand.push(remember.demand.get(&Resource::Cpu).units());
        }
        assert_eq!(demand, [3000, 3000, 2500, 500]);
    }
}
