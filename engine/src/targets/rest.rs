//! The rest of the capacity beside the units that fit into deserved shares.

use super::Making;
use crate::amounts::{Amounts, Resource};
use crate::cluster::Cluster;
use crate::leaf::Unit;
use crate::shares::{Fraction, halved, in_turns};
use crate::tree::{BranchId, BranchMap};

/// Hands out what is left unit by unit to the lowest target per weight whose next unit fits; units that run come first.
pub(super) fn hand_out_rest(
    cluster: Cluster<'_>,
    making: &mut BranchMap<Option<Making>>,
    targets: &mut BranchMap<Amounts>,
) {
    let mut rest = Rest::beside(cluster, targets);
    for running in [true, false] {
        let receives = |making: &Making| making.receives && making.has_left(running);
        let leaves = making.iter().filter(|(_, making)| making.as_ref().is_some_and(receives));
        let leaves: Vec<BranchId> = leaves.map(|(at, _)| at).collect();
        in_turns(&mut rest, leaves.into_iter(), Rest::level, |rest, at| {
            let Some(leaf) = &mut making[at] else { return false };
            let is_served = rest.give_next(at, leaf, running);
            targets[at] = leaf.target();
            is_served
        });
    }
}

/// How much the queues from the root down to a leaf have, each by its weight among its siblings.
type Level = Vec<(bool, Fraction, BranchId)>;

/// What is left of the capacity.
pub(super) struct Rest<'a> {
    cluster: Cluster<'a>,
    /// The targets so far; of parents the sums of their children's.
    sums: BranchMap<Amounts>,
    room: Amounts,
}

impl<'a> Rest<'a> {
    /// What `targets` leave.
    pub(super) fn beside(cluster: Cluster<'a>, targets: &BranchMap<Amounts>) -> Self {
        let sums = cluster.tree.sums(targets.clone());
        Self { cluster, room: cluster.tree.left(cluster.capacity, &sums), sums }
    }

    fn level(&self, at: BranchId) -> Level {
        let of_branch = |at: BranchId, weight: u32| {
            (weight == 0, self.cluster.dominant(&self.sums[at], weight.max(1)), at)
        };
        let path = self.cluster.tree.path_up(at);
        let mut level: Level = path.map(|(at, branch)| of_branch(at, branch.queue.weight)).collect();
        level.reverse();
        level
    }

    /// Gives the leaf at `at` the first of its units that fits, of those that run or of the others; those that do not will not
    /// fit later either. Whether one did.
    fn give_next(&mut self, at: BranchId, leaf: &mut Making, running: bool) -> bool {
        let before = leaf.target();
        while leaf.has_left(running)
            && let Some(unit) = leaf.left.pop_front()
        {
            if leaf.incomplete.lacks_minimum(unit.part.as_ref()) {
                continue;
            }
            let room = halved(leaf.per_turn.min(unit.count)).find_map(|count| {
                let fitted = leaf.fitted.plus(&unit.requests.times(count));
                let more = leaf.target_with(&fitted).less(&before);
                self.fits(at, &more).then_some((count, fitted, more))
            });
            if let Some((count, fitted, more)) = room {
                leaf.fitted = fitted;
                if unit.count > count {
                    leaf.left.push_front(Unit { count: unit.count.saturating_sub(count), ..unit });
                }
                self.take(at, &more);
                return true;
            }
            leaf.incomplete.given(unit.part.as_ref(), unit.count, 0);
        }
        false
    }

    /// Counts so much more as the target of the leaf at `at`.
    pub(super) fn take(&mut self, at: BranchId, more: &Amounts) {
        self.room.subtract_all(more);
        self.cluster.tree.path_up(at).for_each(|(index, _)| self.sums[index].add_all(more));
    }

    /// Whether so much more fits below every limit on the path and into the capacity.
    pub(super) fn fits(&self, at: BranchId, more: &Amounts) -> bool {
        let fits = |one: &Resource| {
            let below_limits = self
                .cluster
                .tree
                .path_up(at)
                .all(|(index, branch)| self.sums[index].get(one) + more.get(one) <= branch.limit(one));
            more.get(one) <= self.room.get(one) && below_limits
        };
        more.resources().all(fits)
    }
}
