//! The window: demand rises at once and falls only after a while.
//!
//! Demand that comes and goes every minute would otherwise evict every minute.

use std::collections::{BTreeMap, BTreeSet};

use super::earliest;
use crate::amounts::{Amounts, Resource};
use crate::snapshot::Remembered;
use crate::time::Timestamp;

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

/// What counts of `raw`, the demand of this instant.
pub(super) fn apply(raw: Amounts, before: &Remembered, now: Timestamp) -> Window {
    let mut window = Window::default();
    let resources: BTreeSet<Resource> = raw.resources().chain(before.demand.resources()).cloned().collect();
    window.demand = raw;
    for resource in resources {
        let kept = before.demand.get(&resource);
        if window.demand.get(&resource) >= kept {
            continue;
        }
        // Never in the future: somebody's clock was wrong.
        let since = before.falling.get(&resource).copied().unwrap_or(now).min(now);
        let until = since.plus_seconds(SECONDS);
        if until > now {
            window.demand.set(&resource, kept);
            window.falling.insert(resource, since);
            window.next_change = earliest(window.next_change, Some(until));
        }
    }
    window
}
