//! The window: demand rises at once and falls only after a while, and no faster than pods leave.
//!
//! Demand that comes and goes every minute would otherwise evict every minute. And what pods on their way out hold is
//! of no other queue before they are gone: shares that moved as soon as a victim begins to leave would choose another one.

use std::collections::{BTreeMap, BTreeSet};

use crate::amounts::{Amounts, Resource};
use crate::snapshot::Remembered;
use crate::time::{Timestamp, earliest};

/// How long demand has to stay below what it was before it falls.
const SECONDS: i64 = 30;

/// Demand behind the window.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) demand: Amounts,
    /// Since when less is asked for than counts.
    pub(super) falling: BTreeMap<Resource, Timestamp>,
    /// When the first of these falls.
    pub(super) next_change: Option<Timestamp>,
}

/// What counts of `raw`, the demand of this instant, where `leaving` is still held by pods on their way out.
pub(super) fn apply(raw: Amounts, leaving: &Amounts, before: &Remembered, now: Timestamp) -> Window {
    let mut window = Window::default();
    let resources: BTreeSet<Resource> = raw.resources().chain(before.demand.resources()).cloned().collect();
    window.demand = raw;
    for resource in resources {
        let kept = before.demand.get(&resource);
        if window.demand.get(&resource) >= kept {
            continue;
        }
        // Never in the future: a clock was wrong.
        let since = before.falling.get(&resource).copied().unwrap_or(now).min(now);
        let until = since.plus_seconds(SECONDS);
        let (raw, leaving) = (window.demand.get(&resource), leaving.get(&resource));
        if until > now {
            window.demand.set(&resource, kept);
            window.falling.insert(resource, since);
            window.next_change = earliest(window.next_change, Some(until));
        } else if leaving.is_positive() {
            window.demand.set(&resource, kept.min(raw + leaving));
            window.falling.insert(resource, since);
        }
    }
    window
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::Amount;

    fn cpu(units: i128) -> Amounts {
        [(Resource::Cpu, Amount::new(units))].into_iter().collect()
    }

    /// Whose grace is longer than the window holds its room until it is gone, and as long no other queue has it.
    #[test]
    fn demand_falls_no_faster_than_pods_leave() {
        let mut before = Remembered { demand: cpu(3000), ..Remembered::default() };
        let mut demand = Vec::new();
        for (now, raw, leaving) in [(0, 0, 3000), (40, 0, 3000), (50, 500, 2000), (60, 500, 0)] {
            let window = apply(cpu(raw), &cpu(leaving), &before, Timestamp::from_seconds(now));
            demand.push(window.demand.get(&Resource::Cpu).units());
            before = Remembered { demand: window.demand, falling: window.falling, ..before };
        }
        assert_eq!(demand, [3000, 3000, 2500, 500]);
    }
}
