//! The rest of the capacity beside the units that fit into deserved shares.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Making;
use crate::amounts::{Amounts, Resource};
use crate::shares::Fraction;
use crate::tree::{Index, Tree};

/// Hands out what is left unit by unit to the lowest target per weight whose next unit fits; units that run come first.
pub(super) fn hand_out_rest(
    tree: &Tree<'_>,
    making: &mut [Option<Making>],
    targets: &mut [Amounts],
    capacity: &Amounts,
    resources: &[Resource],
) {
    let sums = tree.sums(targets.to_vec());
    let mut room = capacity.clone();
    for root in &tree.roots {
        room.subtract_all(sums.get(*root).unwrap_or(&Amounts::new()));
    }
    let mut rest = Rest { tree, capacity, resources, sums, room };
    for running in [true, false] {
        let receives =
            |making: &&Making| making.receives && making.left.iter().any(|unit| unit.runs || !running);
        let leaves = making
            .iter()
            .enumerate()
            .filter(|(_, making)| making.as_ref().is_some_and(|making| receives(&making)));
        let mut queue: BinaryHeap<Reverse<(Level, Index)>> =
            leaves.map(|(at, _)| Reverse((rest.level(at), at))).collect();
        while let Some(Reverse((level, at))) = queue.pop() {
            // Levels only rise, and of others the queues above may have.
            let now = rest.level(at);
            if now > level {
                queue.push(Reverse((now, at)));
                continue;
            }
            let Some(leaf) = making.get_mut(at).and_then(Option::as_mut) else { continue };
            if rest.give_next(at, leaf, running)
                && let Some(target) = targets.get_mut(at)
            {
                *target = leaf.target();
                queue.push(Reverse((rest.level(at), at)));
            }
        }
    }
}

/// How much the queues from the root down to a leaf have, each by its weight among its siblings.
type Level = Vec<(bool, Fraction, Index)>;

struct Rest<'a> {
    tree: &'a Tree<'a>,
    capacity: &'a Amounts,
    resources: &'a [Resource],
    /// The targets so far; of parents the sums of their children's.
    sums: Vec<Amounts>,
    room: Amounts,
}

impl Rest<'_> {
    fn level(&self, at: Index) -> Level {
        let of_branch = |at: Index, weight: u32| {
            let target = self.sums.get(at).cloned().unwrap_or_default();
            let part = |one: &Resource| Fraction {
                part: target.get(one).units(),
                whole: self.capacity.get(one).units().saturating_mul(i128::from(weight.max(1))),
            };
            let offered = self.resources.iter().filter(|one| self.capacity.offers(one));
            let most = offered.map(part).max().unwrap_or(Fraction { part: 0, whole: 1 });
            (weight == 0, most, at)
        };
        let mut level: Level =
            self.tree.path_up(at).map(|(at, branch)| of_branch(at, branch.queue.weight)).collect();
        level.reverse();
        level
    }

    /// Gives the leaf at `at` the first of its units that fits; those that do not will not fit later either. Whether one
    /// did.
    fn give_next(&mut self, at: Index, leaf: &mut Making, running: bool) -> bool {
        let before = leaf.target();
        let mut given = false;
        let mut left = std::mem::take(&mut leaf.left);
        left.retain_mut(|unit| {
            if given || (running && !unit.runs) {
                return true;
            }
            let after = leaf.target_with(&leaf.fitted.plus(&unit.requests));
            if !self.fits(at, &after.less(&before)) {
                return false;
            }
            given = true;
            leaf.fitted.add_all(&unit.requests);
            unit.count = unit.count.saturating_sub(1);
            unit.count > 0
        });
        leaf.left = left;
        if given {
            let more = leaf.target().less(&before);
            self.room.subtract_all(&more);
            let path: Vec<Index> = self.tree.path_up(at).map(|(index, _)| index).collect();
            for index in path {
                if let Some(sum) = self.sums.get_mut(index) {
                    sum.add_all(&more);
                }
            }
        }
        given
    }

    /// Whether so much more fits below every limit on the path and into the capacity.
    fn fits(&self, at: Index, more: &Amounts) -> bool {
        let fits = |one: &Resource| {
            let below_limits = self.tree.path_up(at).all(|(index, branch)| {
                let has = self.sums.get(index).map(|sum| sum.get(one)).unwrap_or_default();
                has + more.get(one) <= branch.limit(one)
            });
            more.get(one) <= self.room.get(one) && below_limits
        };
        more.resources().all(fits)
    }
}
