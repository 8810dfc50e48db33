//! Serving what has the least, one at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tree::BranchId;

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
