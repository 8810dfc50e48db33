//! Loans: capacity that no queue needs, lent by a window per queue, as TCP does.
//!
//! The window begins at one pod of common size, doubles whenever its queue has used more than half of it, and returns after
//! ten minutes without that. So a notebook always starts on an idle cluster, a burst follows in a few decisions, and a pod
//! that starts rewrites no other queue's quota: what is lent is cut only when less than that is idle, and then by halves.
//!
//! A queue that loses pods to one without a node, which waits or is only granted, is lent at most half of what they had for ten
//! minutes. What is idle is of no use to that pod. The same loan would let the like of those that left in again before it starts,
//! and again they would have to go.

use std::collections::BTreeMap;

use super::GrantInput;
use crate::amounts::{Amount, Amounts, Resource};
use crate::leaf::Leaf;
use crate::shares::{rounded_down, sums};
use crate::snapshot::Window;
use crate::time::Timestamp;
use crate::tree::{Branch, BranchId, BranchMap, Tree};

/// How long a window stays as large as it has grown without being used, or as small as it was made, in seconds.
const IDLE_SECONDS: i64 = 600;

/// What is lent moves no quota if it is less than one part of the target in so many.
const ONE_IN: i128 = 100;

/// A pod of common size: two cores, eight gibibytes.
const COMMON_CPU: Amount = Amount::new(2000);
const COMMON_MEMORY: Amount = Amount::new(8 << 30);

/// What is lent to one leaf.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loans {
    /// What its quota allows above its target.
    pub(crate) lent: Amounts,
    /// The part of it that lies on what pods hold, and goes with them.
    pub(crate) on_pods: Amounts,
    /// For the next decision.
    pub(crate) windows: BTreeMap<Resource, Window>,
    /// When a window returns.
    pub(crate) next_change: Option<Timestamp>,
}

impl Loans {
    /// The windows where pods of `leaf` go for a pod that waits for a node: at most half of what is held above `target`.
    pub(crate) fn windows_after_loss(
        &self,
        leaf: &Leaf<'_>,
        target: &Amounts,
        now: Timestamp,
    ) -> BTreeMap<Resource, Window> {
        let mut windows = self.windows.clone();
        for (one, window) in &mut windows {
            let lent = leaf.staying.get(one).less(target.get(one));
            let size = halved(lent, one);
            if lent.is_positive() && size < window.size {
                *window = Window { size, lost: Some(now), ..*window };
            }
        }
        windows
    }
}

/// What no queue needs of one resource.
#[derive(Clone)]
pub(super) struct Idle {
    resource: Resource,
    everywhere: Amount,
    /// What is left below every limit.
    below: BranchMap<Amount>,
    /// What each leaf has less than an even part of every limit on its path.
    even: BranchMap<Amount>,
    /// The window that every queue begins with.
    first: Amount,
    /// The window of every branch; none of parents.
    windows: BranchMap<Option<Window>>,
}

impl Idle {
    /// What is idle of each resource; nothing where nothing moves.
    pub(super) fn of(input: &GrantInput<'_>) -> Vec<Self> {
        let nothing_moves = input.snapshot.reclaim_gate.held().is_some();
        let resources = if nothing_moves { &[] } else { input.resources };
        resources.iter().map(|one| Self::of_resource(input, one)).collect()
    }

    /// What is lent to each leaf that has its target.
    ///
    /// Any of them may use what is idle in the cluster. What a limit above them leaves is handed out, to one after the other: all
    /// of it together would be more than the limit. With its loan none has more than an even part of such a limit, so that the
    /// first of them do not take all of it.
    pub(super) fn lend(
        mut all: Vec<Self>,
        input: &GrantInput<'_>,
        firm: &BranchMap<Amounts>,
    ) -> BranchMap<Loans> {
        input.of_leaves(|leaf| Self::loan(&mut all, input, leaf, &firm[leaf.at]))
    }

    fn loan(all: &mut [Self], input: &GrantInput<'_>, leaf: &Leaf<'_>, firm: &Amounts) -> Loans {
        let (mut loans, at) = (Loans::default(), leaf.at);
        for idle in all {
            let (one, target) = (&idle.resource, input.targets[at].get(&idle.resource));
            let known = leaf.queue.remembered.windows.get(one);
            if firm.get(one) < target {
                loans.windows.extend(known.map(|window| (one.clone(), *window)));
                continue;
            }
            let Some(window) = idle.windows[at] else { continue };
            let (on_pods, beside) = idle.lent(input.tree, leaf, target, &window);
            let lent = on_pods + beside;
            let above = input.tree.path_up(at).skip(1);
            for (above, _) in above.filter(|(_, branch)| branch.queue.limit.get(&idle.resource).is_some()) {
                idle.below[above] = idle.below[above].less(lent);
            }
            if window.size != idle.first {
                let returns = window.lost.unwrap_or(window.used).plus_seconds(IDLE_SECONDS);
                loans.next_change = loans.next_change.into_iter().chain([returns]).min();
            }
            loans.windows.insert(one.clone(), window);
            loans.lent.set(one, lent);
            loans.on_pods.set(one, on_pods);
        }
        loans
    }

    fn of_resource(input: &GrantInput<'_>, resource: &Resource) -> Self {
        let tree = input.tree;
        let taken = input.of_leaves(|leaf| {
            input.targets[leaf.at].get(resource).max(leaf.namespace_usage.charged.get(resource))
        });
        let taken = sums(tree, taken);
        let all: Amount = tree.roots.iter().map(|root| taken[*root]).sum();
        let capacity = input.offered.get(resource).min(input.capacity.get(resource));
        let below = tree.branches.map(|at, branch| branch.limit(resource).less(taken[at]));
        let count = sums(tree, input.of_leaves(|_| Amount::new(1)));
        let even = input.of_leaves(|leaf| {
            let part = |(at, branch): (BranchId, &Branch<'_>)| {
                branch.limit(resource).units().checked_div(count[at].units()).unwrap_or_default()
            };
            let part = tree.path_up(leaf.at).map(part).min().unwrap_or_default();
            Amount::new(part).less(taken[leaf.at])
        });
        let leaves = i128::try_from(input.each_leaf().count()).unwrap_or(i128::MAX).max(1);
        // All windows together stay below half of what there is, so that what quotas add up to stays within bounds.
        let half = match resource {
            Resource::Extended(_) => Amount::MAX,
            Resource::Cpu | Resource::Memory => Amount::new(input.capacity.get(resource).units() / 2),
        };
        let part = Amount::new(half.units().checked_div(leaves).unwrap_or_default());
        let first = common_size(input, resource).min(part);
        let known = |leaf: &Leaf<'_>| leaf.queue.remembered.windows.get(resource).copied();
        let grown = |leaf| known(leaf).map(|window| window.size.less(first)).unwrap_or_default();
        let begun = first.times(leaves);
        let mut growth = half.less(begun).less(input.each_leaf().map(grown).sum());
        let windows = input.of_leaves(|leaf| {
            let (known, target) = (known(leaf), input.targets[leaf.at].get(resource));
            Some(window(known.as_ref(), target, first, &mut growth, input.snapshot.now))
        });
        Self { resource: resource.clone(), everywhere: capacity.less(all), below, even, first, windows }
    }

    /// What is lent on what pods hold above the target, and beside that within `window`: what is lent already, as long as it is
    /// neither more than is idle nor less than half of what may be lent.
    fn lent(&self, tree: &Tree<'_>, leaf: &Leaf<'_>, target: Amount, window: &Window) -> (Amount, Amount) {
        let below = tree.path_up(leaf.at).map(|(index, _)| self.below[index]);
        let idle = below.fold(self.everywhere.min(self.even[leaf.at]), Amount::min);
        let mut most = window.size;
        while most > idle {
            most = halved(most, &self.resource);
        }
        // Next to nothing moves no quota.
        let is_little = |lent: Amount| lent.units().saturating_mul(ONE_IN) < target.units();
        let stays = |lent: &Amount| {
            most.units() / 2 <= lent.units() && (is_little(*lent) || *lent <= idle.min(window.size))
        };
        // It lies on what pods hold, or none of them could be replaced beside others that no target counts. Where pods had to go
        // for another queue, it would let in the same ones again.
        let lies_on_pods = !idle.is_zero() && window.lost.is_none();
        let held = leaf.namespace_usage.charged.get(&self.resource).less(target);
        let on_pods = if lies_on_pods { held } else { Amount::ZERO };
        let standing = leaf.written(&self.resource).map(|written| written.less(target + on_pods));
        (on_pods, standing.filter(stays).unwrap_or(most))
    }
}

/// The window of a queue with this `target`, which was `known` before; takes out of `growth` what it grows by.
fn window(
    known: Option<&Window>,
    target: Amount,
    first: Amount,
    growth: &mut Amount,
    now: Timestamp,
) -> Window {
    let Some(known) = known else { return Window { size: first, target, used: now, lost: None } };
    // A clock that went back begins anew.
    let lasts = |since: &Timestamp| since.plus_seconds(IDLE_SECONDS) > now;
    let lost = known.lost.map(|lost| lost.min(now)).filter(lasts);
    let least = if lost.is_some() { Amount::ZERO } else { first };
    let used = target.less(known.target);
    if used > Amount::new(known.size.units() / 2) {
        let more = known.size.min(*growth);
        *growth = growth.less(more);
        return Window { size: (known.size + more).max(least), target, used: now, lost };
    }
    // So does a target that falls.
    let since = known.used.min(now);
    let size = if lost.is_some() || lasts(&since) { known.size.max(least) } else { first };
    Window { size, target: known.target.min(target), used: since, lost }
}

/// Half of `amount`, in whole quanta of `resource`.
fn halved(amount: Amount, resource: &Resource) -> Amount {
    Amount::new(rounded_down(amount.units() / 2, resource.quantum()))
}

/// What a pod of common size requests: of devices as many as one node offers at most.
fn common_size(input: &GrantInput<'_>, resource: &Resource) -> Amount {
    match resource {
        Resource::Cpu => COMMON_CPU,
        Resource::Memory => COMMON_MEMORY,
        Resource::Extended(_) => {
            let nodes = input.snapshot.nodes.values().filter(|node| node.counts);
            nodes.map(|node| node.allocatable.get(resource)).max().unwrap_or_default()
        }
    }
}
