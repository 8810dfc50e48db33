//! Headroom: what an observed queue is given above what it uses, so that creators nobody can foresee can start.

use crate::amounts::{Amount, Amounts, Resource};
use crate::snapshot::{DemandMode, Queue};
use crate::tree::{Index, Tree};

/// The default of cpu: one, in milli-cpu.
const CPU: i128 = 1000;
/// The default of memory: 2Gi, in bytes.
const MEMORY: i128 = 2 << 30;
/// The default is at most this part of what the queue's weight entitles it to.
const AT_MOST_A: i128 = 10;

/// The headroom of `queue`, which by its weight would have `weight_share` of `resource`.
///
/// As stated; else 1 cpu and 2Gi, at most a tenth of `weight_share`, in whole quanta.
pub(crate) fn headroom(queue: &Queue, resource: &Resource, weight_share: Amount) -> Amount {
    if queue.demand != DemandMode::Observed {
        return Amount::ZERO;
    }
    if let Some(stated) = &queue.headroom {
        return stated.get(resource).unwrap_or_default();
    }
    let usual = match resource {
        Resource::Cpu => CPU,
        Resource::Memory => MEMORY,
        Resource::Extended(_) => 0,
    };
    let part = weight_share.units().checked_div(AT_MOST_A).unwrap_or(0).min(usual);
    let beyond = part.checked_rem(resource.quantum()).unwrap_or(0);
    Amount::new(part.saturating_sub(beyond)).or_zero()
}

/// What every branch would have of `capacity` by its weight alone, whatever anybody asks for.
///
/// Unlike the fair share this does not move with others' demand, and headroom must not.
pub(crate) fn weight_shares(tree: &Tree<'_>, capacity: &Amounts, resources: &[Resource]) -> Vec<Amounts> {
    let mut shares = vec![Amounts::new(); tree.branches.len()];
    let divide = |siblings: &[Index], available: &Amounts, shares: &mut Vec<Amounts>| {
        let branches = || siblings.iter().filter_map(|at| Some((*at, tree.branches.get(*at)?)));
        let all =
            branches().fold(0i128, |sum, (_, branch)| sum.saturating_add(i128::from(branch.queue.weight)));
        for (at, branch) in branches() {
            let Some(entry) = shares.get_mut(at) else { continue };
            for resource in resources {
                let weighted =
                    available.get(resource).units().saturating_mul(i128::from(branch.queue.weight));
                let share = Amount::new(weighted.checked_div(all).unwrap_or(0));
                entry.set(resource, share.min(branch.limit(resource)));
            }
        }
    };
    divide(&tree.roots, capacity, &mut shares);
    for (at, branch) in tree.branches.iter().enumerate() {
        if !branch.children.is_empty() {
            let available = shares.get(at).cloned().unwrap_or_default();
            divide(&branch.children, &available, &mut shares);
        }
    }
    shares
}
