//! Units that get room one after the other.

use std::collections::VecDeque;

use super::{IncompleteGangs, Unit};
use crate::amounts::Amounts;

/// The most turns that one leaf takes, about. A tenant can show thousands of millions of units.
const MOST_TURNS: u64 = 4096;

/// The units of one leaf that wait for room, the first to be served first.
#[derive(Default)]
pub(crate) struct Backlog {
    left: VecDeque<Unit>,
    /// How many alike ones of these are served in one turn.
    per_turn: u32,
    /// Those whose minimum has found no room.
    incomplete: IncompleteGangs,
}

impl Backlog {
    pub(crate) fn of(units: Vec<Unit>) -> Self {
        let all = units.iter().fold(0_u64, |all, unit| all.saturating_add(unit.count.into()));
        let per_turn = u32::try_from(all.checked_div(MOST_TURNS).unwrap_or_default()).unwrap_or(u32::MAX);
        Self { left: units.into(), per_turn: per_turn.max(1), incomplete: IncompleteGangs::default() }
    }

    /// Whether the first unit is one that `counts`.
    pub(crate) fn begins_with(&self, counts: impl Fn(&Unit) -> bool) -> bool {
        self.left.front().is_some_and(counts)
    }

    /// Takes out the first units that have room, of those before the first one that does not count: as many alike ones as are
    /// served in one turn, else half as many, down to one. What `room` says of what these request.
    ///
    /// Those that have no room are taken out, too: they will have none later either.
    pub(crate) fn serve<Served>(
        &mut self,
        counts: impl Fn(&Unit) -> bool,
        room: impl Fn(&Amounts) -> Option<Served>,
    ) -> Option<Served> {
        while self.begins_with(&counts)
            && let Some(unit) = self.left.pop_front()
        {
            if self.incomplete.lacks_minimum(unit.part.as_ref()) {
                continue;
            }
            let served = halved(self.per_turn.min(unit.count))
                .find_map(|count| Some((count, room(&unit.requests.times(count))?)));
            if let Some((count, served)) = served {
                if unit.count > count {
                    self.left.push_front(Unit { count: unit.count.saturating_sub(count), ..unit });
                }
                return Some(served);
            }
            self.incomplete.given(unit.part.as_ref(), unit.count, 0);
        }
        None
    }
}

/// `units`, then half as many, and so on down to one.
fn halved(units: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(units), |units| units.checked_div(2).filter(|half| *half > 0))
}
