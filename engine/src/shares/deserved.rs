//! What every queue of the tree deserves of every resource.

use super::{Claim, divide};
use crate::amounts::{Amount, Amounts, Resource};
use crate::snapshot::Queue;
use crate::tree::{Index, Tree};

/// The shares of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    pub(crate) demand: Amounts,
    pub(crate) deserved: Amounts,
    pub(crate) fair_share: Amounts,
    pub(crate) unmeetable: Amounts,
}

/// Divides `capacity` down the tree; one entry a branch.
///
/// `held` is what cannot be taken from each branch. A parent asks for what its children ask for, at most its
/// limit; its floor is the larger of its own and its children's together, within its limit.
pub(crate) fn shares(
    tree: &Tree<'_>,
    held: &[Amounts],
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<Shares> {
    let mut all = vec![Shares::default(); tree.branches.len()];
    for resource in resources {
        let available = capacity.get(resource);
        let claims = claims(tree, held, resource, available);
        let deserved = divide_down(tree, &claims, resource, available);
        for (at, branch) in tree.branches.iter().enumerate() {
            let (Some(shares), Some(claim), Some(deserved_here)) =
                (all.get_mut(at), claims.get(at), deserved.get(at))
            else {
                continue;
            };
            shares.demand.set(resource, claim.demand);
            shares.deserved.set(resource, *deserved_here);
            let fair_share = fair_share(tree, &claims, at, *deserved_here, resource, available);
            shares.fair_share.set(resource, fair_share);
            let promised = branch.queue.guaranteed.get(resource).unwrap_or_default();
            let ceiling =
                tree.path_up(at).map(|(_, above)| above.limit(resource)).min().unwrap_or(Amount::MAX);
            let missing = promised.less(available.min(ceiling)).max(claim.guaranteed.less(*deserved_here));
            shares.unmeetable.set(resource, missing);
        }
    }
    all
}

/// What every branch asks for and is entitled to, children before parents.
fn claims(tree: &Tree<'_>, held: &[Amounts], resource: &Resource, capacity: Amount) -> Vec<Claim> {
    let mut claims = vec![Claim::default(); tree.branches.len()];
    for at in (0..tree.branches.len()).rev() {
        let Some(branch) = tree.branches.get(at) else { continue };
        let below = children_sum(&claims, &branch.children);
        let asked = if branch.is_leaf() { asked(branch.queue, resource, capacity) } else { below.demand };
        let demand = asked.min(branch.limit(resource));
        let own = branch.queue.guaranteed.get(resource).unwrap_or_default().min(demand);
        let held = held.get(at).map(|held| held.get(resource)).unwrap_or_default();
        let claim = Claim {
            demand,
            guaranteed: own.max(below.guaranteed).min(branch.limit(resource)),
            held: (held + below.held).min(branch.limit(resource)),
            weight: branch.queue.weight,
        };
        if let Some(entry) = claims.get_mut(at) {
            *entry = claim;
        }
    }
    claims
}

fn children_sum(claims: &[Claim], children: &[Index]) -> Claim {
    children.iter().filter_map(|child| claims.get(*child)).fold(Claim::default(), |sum, child| Claim {
        demand: sum.demand + child.demand.max(child.held),
        guaranteed: sum.guaranteed + child.guaranteed,
        held: sum.held + child.held,
        weight: 0,
    })
}

/// What a leaf asks for of `resource`: what it states, or all the capacity.
///
/// A stated request leaves cpu and memory open, because every pod needs them, and asks for nothing else that it
/// does not name. No request at all asks for everything (S-PREEMPT §Preemption stage, Queue-3).
fn asked(queue: &Queue, resource: &Resource, capacity: Amount) -> Amount {
    match &queue.request {
        None => capacity,
        Some(request) => request.get(resource).unwrap_or(match resource {
            Resource::Cpu | Resource::Memory => capacity,
            Resource::Extended(_) => Amount::ZERO,
        }),
    }
}

/// Divides `capacity` among the roots, and what each parent got among its children.
fn divide_down(tree: &Tree<'_>, claims: &[Claim], resource: &Resource, capacity: Amount) -> Vec<Amount> {
    let mut deserved = vec![Amount::ZERO; tree.branches.len()];
    divide_among(&tree.roots, claims, resource, capacity, &mut deserved);
    for (at, branch) in tree.branches.iter().enumerate() {
        let available = deserved.get(at).copied().unwrap_or_default();
        divide_among(&branch.children, claims, resource, available, &mut deserved);
    }
    deserved
}

fn divide_among(
    siblings: &[Index],
    claims: &[Claim],
    resource: &Resource,
    available: Amount,
    deserved: &mut [Amount],
) {
    let among: Vec<Claim> = siblings.iter().filter_map(|at| claims.get(*at).copied()).collect();
    for (at, share) in siblings.iter().zip(divide(available, &among, resource.quantum())) {
        if let Some(entry) = deserved.get_mut(*at) {
            *entry = share;
        }
    }
}

/// What the branch at `at` would deserve if it asked for everything while the others ask for what they do.
///
/// Only the claims on its path change, so only the siblings along the path are divided among anew.
fn fair_share(
    tree: &Tree<'_>,
    claims: &[Claim],
    at: Index,
    deserved: Amount,
    resource: &Resource,
    capacity: Amount,
) -> Amount {
    // From the branch up to the root: what each on the path claims instead.
    let mut path: Vec<(Index, Claim)> = Vec::new();
    for (index, branch) in tree.path_up(at) {
        let Some(before) = claims.get(index).copied() else { return deserved };
        let after = match path.last() {
            None => {
                let demand = capacity.min(branch.limit(resource));
                if before.demand >= demand {
                    // It asks for everything already.
                    return deserved;
                }
                let own = branch.queue.guaranteed.get(resource).unwrap_or_default().min(demand);
                Claim { demand, guaranteed: own.max(before.guaranteed), ..before }
            }
            Some((child, claim)) => {
                let was = claims.get(*child).copied().unwrap_or_default();
                let more = claim.demand.less(was.demand.max(was.held));
                let demand = (before.demand + more).min(branch.limit(resource));
                let own = branch.queue.guaranteed.get(resource).unwrap_or_default().min(demand);
                let raised =
                    (before.guaranteed + claim.guaranteed - was.guaranteed).min(branch.limit(resource));
                Claim { demand, guaranteed: own.max(raised), ..before }
            }
        };
        path.push((index, after));
    }
    // And down again: what each on the path would get of what the one above it would get.
    let mut available = capacity;
    let mut siblings = &tree.roots;
    for (index, claim) in path.iter().rev() {
        let among: Vec<Claim> = siblings
            .iter()
            .filter_map(|sibling| if sibling == index { Some(*claim) } else { claims.get(*sibling).copied() })
            .collect();
        let shares = divide(available, &among, resource.quantum());
        let position = siblings.iter().position(|sibling| sibling == index);
        available = position.and_then(|position| shares.get(position).copied()).unwrap_or_default();
        if let Some(branch) = tree.branches.get(*index) {
            siblings = &branch.children;
        }
    }
    available
}
