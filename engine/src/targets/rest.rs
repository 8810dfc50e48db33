//! The rest of the capacity beside the units that fit into deserved shares.

use super::Making;
use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::shares::{Fraction, in_turns};
use crate::tree::{BranchId, BranchMap, Room};

/// Hands out what is left unit by unit to the lowest target per weight whose next unit fits; units that run come first.
pub(super) fn hand_out_rest(
    cluster: Cluster<'_>,
    making: &mut BranchMap<Option<Making>>,
    targets: &mut BranchMap<Amounts>,
) {
    let mut rest = beside(cluster, targets);
    for running in [true, false] {
        let waits =
            |leaf: &&Leaf<'_>| making[leaf.at].as_ref().is_some_and(|making| making.has_left(running));
        let leaves = cluster.each_leaf().filter(waits).filter(|leaf| !leaf.never_evicted);
        let leaves: Vec<BranchId> = leaves.map(|leaf| leaf.at).collect();
        let level = |rest: &Room<'_>, at| level(cluster, rest, at);
        in_turns(&mut rest, leaves.into_iter(), level, |rest, at| {
            let Some(leaf) = &mut making[at] else { return false };
            let is_served = give_next(rest, at, leaf, running);
            targets[at] = leaf.target();
            is_served
        });
    }
}

/// What `targets` leave of the capacity.
pub(super) fn beside<'a>(cluster: Cluster<'a>, targets: &BranchMap<Amounts>) -> Room<'a> {
    Room::beside(cluster.tree, cluster.capacity, cluster.tree.sums(targets.clone()))
}

/// How much the queues from the root down to the leaf at `at` have, each by its weight among its siblings.
fn level(cluster: Cluster<'_>, rest: &Room<'_>, at: BranchId) -> Vec<(bool, Fraction, BranchId)> {
    let of_branch =
        |at: BranchId, weight: u32| (weight == 0, cluster.dominant(&rest.sums[at], weight.max(1)), at);
    let path = cluster.tree.path_up(at);
    let mut level: Vec<_> = path.map(|(at, branch)| of_branch(at, branch.queue.weight)).collect();
    level.reverse();
    level
}

/// Gives the leaf at `at` the first of its units that fits, of those that run or of the others. Whether one did.
fn give_next(rest: &mut Room<'_>, at: BranchId, leaf: &mut Making, running: bool) -> bool {
    let (before, mut backlog) = (leaf.target(), std::mem::take(&mut leaf.backlog));
    let served = backlog.serve(
        |unit| unit.runs || !running,
        |requests| {
            let fitted = leaf.fitted.plus(requests);
            let more = leaf.target_with(&fitted).less(&before);
            rest.fits(at, &more).then_some((fitted, more))
        },
    );
    leaf.backlog = backlog;
    let Some((fitted, more)) = served else { return false };
    leaf.fitted = fitted;
    rest.take(at, &more);
    true
}
