//! Whole pods: amounts that complete no pod where they are go where they complete one.
//!
//! 4.5 and 4.5 cpu run eight pods of one cpu, 5 and 4 run nine. What a queue has beside its units, while the next
//! one does not fit, is stranded; stranded amounts complete one unit at a time, in the caller's order. Whoever
//! received a resource gives none of it, and what completes nothing stays where it is. Shares are made whole like
//! that, and so are raises of quotas.

mod books;
mod giving;
mod row;
mod stack;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use books::{Books, Completed};
use stack::Stage;

use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::Stock;
use crate::tree::{Index, Tree};

/// What is to be made whole; every list has an entry a branch.
pub(crate) struct Parts {
    /// What everybody has; of parents the sums.
    pub(crate) have: Vec<Amounts>,
    /// What nobody is brought below.
    pub(crate) floor: Vec<Amounts>,
    /// What nobody is brought above.
    pub(crate) cap: Vec<Amounts>,
}

/// Where a queue stands in line, the lowest first, given what it has.
pub(crate) type InLine<'a, Key> = &'a dyn Fn(Index, &dyn Fn(&Resource) -> Amount) -> Key;

/// `parts.have`, made whole.
///
/// `stocks` are those of the leaves that have not room for all of their units. Nothing crosses a fence inwards: what a
/// fenced queue is promised has to be had inside.
///
/// Pods that are there come first, and nobody gives what its own pods that are there request: what was made whole once
/// is found again when the pods that it was made for run, whatever order they are then in, and nobody is evicted
/// from for the sake of whole pods.
pub(crate) fn made_whole<Key: Ord>(
    tree: &Tree<'_>,
    stocks: &[Option<Stock<'_>>],
    parts: &Parts,
    resources: &[Resource],
    in_line: InLine<'_, Key>,
) -> Vec<Amounts> {
    let mut books = Books::open(tree, stocks, parts, resources);
    for stage in [Stage::Existing, Stage::Others] {
        books.begin(stage);
        let mut line: BinaryHeap<Reverse<(Key, Index)>> = BinaryHeap::new();
        let place = |books: &Books<'_>, at: Index| -> Option<Reverse<(Key, Index)>> {
            books.next_of(at)?;
            Some(Reverse((in_line(at, &|resource| books.amount(at, resource)), at)))
        };
        for at in 0..tree.branches.len() {
            line.extend(place(&books, at));
        }
        let mut failed: BTreeSet<Index> = BTreeSet::new();
        while let Some(Reverse((_, at))) = line.pop() {
            match books.complete_one(at) {
                Completed::No => {
                    books.skip(at);
                    failed.insert(at);
                }
                Completed::Yes => {}
                Completed::AndMadeRoom => {
                    // Whoever tried in vain may have better luck now.
                    for other in std::mem::take(&mut failed) {
                        let is_in_line = other == at || books.next_of(other).is_some();
                        books.try_again(other);
                        line.extend(place(&books, other).filter(|_| !is_in_line));
                    }
                }
            }
            line.extend(place(&books, at));
        }
    }
    books.close(parts)
}
