//! Serving what has the least, one at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tree::BranchId;

/// The most turns that one leaf takes, about. A tenant can show thousands of millions of units.
const MOST_TURNS: u64 = 4096;

/// How many alike units of a leaf with all these are served in one turn.
pub(crate) fn per_turn(units: impl Iterator<Item = u32>) -> u32 {
    let all = units.fold(0_u64, |all, units| all.saturating_add(units.into()));
    u32::try_from(all.checked_div(MOST_TURNS).unwrap_or_default()).unwrap_or(u32::MAX).max(1)
}

/// `units`, then half as many, and so on down to one: what is tried until so many have room.
pub(crate) fn halved(units: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(units), |units| units.checked_div(2).filter(|half| *half > 0))
}

/// Serves that of `leaves` whose `turn` comes first, again and again, each until `serve` says that nothing is left for it.
/// What one is served lets the turn of others come no earlier.
pub(crate) fn in_turns<State, Turn: Ord>(
    state: &mut State,
    leaves: impl Iterator<Item = BranchId>,
    turn: impl Fn(&State, BranchId) -> Turn,
    mut serve: impl FnMut(&mut State, BranchId) -> bool,
) {
    let mut queue: BinaryHeap<Reverse<(Turn, BranchId)>> =
        leaves.map(|at| Reverse((turn(state, at), at))).collect();
    while let Some(Reverse((known, at))) = queue.pop() {
        let now = turn(state, at);
        if now > known {
            queue.push(Reverse((now, at)));
        } else if serve(state, at) {
            queue.push(Reverse((turn(state, at), at)));
        }
    }
}
