//! What every queue of the tree deserves of every resource.

use super::{Claim, divide};
use crate::amounts::{Amount, Amounts, Resource};
use crate::tree::{BranchId, BranchMap, Tree};

/// The shares of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    pub(crate) demand: Amounts,
    pub(crate) deserved: Amounts,
    pub(crate) nominal: Amounts,
    pub(crate) unmeetable: Amounts,
}

/// What a leaf brings to the division.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Its demand, whatever its limit.
    pub(crate) asked: Amounts,
    /// What cannot be taken from it.
    pub(crate) held: Amounts,
}

/// Divides `capacity` down the tree; one entry a branch. Wishes of parents do not count.
///
/// A parent asks for what its children ask for, at most its
/// limit; its floor is the larger of its own and its children's together, within its limit.
pub(crate) fn shares(
    tree: &Tree<'_>,
    wishes: &BranchMap<Wish>,
    capacity: &Amounts,
    resources: &[Resource],
) -> BranchMap<Shares> {
    let mut all = tree.branches.map(|_, _| Shares::default());
    let everything = tree.branches.map(|_, _| Wish { asked: capacity.clone(), held: Amounts::new() });
    for resource in resources {
        let available = capacity.get(resource);
        let claims = claims(tree, wishes, resource);
        let deserved = divide_down(tree, &claims, resource, available);
        let nominal = divide_down(tree, &self::claims(tree, &everything, resource), resource, available);
        for (at, branch) in tree.branches.iter() {
            let shares = &mut all[at];
            shares.demand.set(resource, claims[at].demand);
            shares.deserved.set(resource, deserved[at]);
            shares.nominal.set(resource, nominal[at]);
            let promised = branch.queue.guaranteed.get(resource).unwrap_or_default();
            let ceiling =
                tree.path_up(at).map(|(_, above)| above.limit(resource)).min().unwrap_or(Amount::MAX);
            let missing = claims[at].guaranteed.less(deserved[at]);
            shares.unmeetable.set(resource, promised.less(available.min(ceiling)).max(missing));
        }
    }
    all
}

/// The demand of every branch, and what it is entitled to, children before parents.
fn claims(tree: &Tree<'_>, wishes: &BranchMap<Wish>, resource: &Resource) -> BranchMap<Claim> {
    let mut claims = tree.branches.map(|_, _| Claim::default());
    for (at, branch) in tree.branches.iter().rev() {
        let below = children_sum(&claims, &branch.children);
        let wish = Some(&wishes[at]).filter(|_| branch.is_leaf());
        let asked = wish.map_or(below.demand, |wish| wish.asked.get(resource));
        let demand = asked.min(branch.limit(resource));
        let own = branch.queue.guaranteed.get(resource).unwrap_or_default().min(demand);
        let held = wish.map(|wish| wish.held.get(resource)).unwrap_or_default();
        claims[at] = Claim {
            demand,
            guaranteed: own.max(below.guaranteed).min(branch.limit(resource)),
            held: (held + below.held).min(branch.limit(resource)),
            weight: branch.queue.weight,
        };
    }
    claims
}

fn children_sum(claims: &BranchMap<Claim>, children: &[BranchId]) -> Claim {
    children.iter().map(|child| claims[*child]).fold(Claim::default(), |sum, child| Claim {
        demand: sum.demand + child.demand.max(child.held),
        guaranteed: sum.guaranteed + child.guaranteed,
        held: sum.held + child.held,
        weight: 0,
    })
}

/// Divides `capacity` among the roots, and what each parent got among its children.
fn divide_down(
    tree: &Tree<'_>,
    claims: &BranchMap<Claim>,
    resource: &Resource,
    capacity: Amount,
) -> BranchMap<Amount> {
    let mut deserved = tree.branches.map(|_, _| Amount::ZERO);
    let divide_among = |siblings: &[BranchId], available: Amount, deserved: &mut BranchMap<Amount>| {
        let among: Vec<Claim> = siblings.iter().map(|at| claims[*at]).collect();
        for (at, share) in siblings.iter().zip(divide(available, &among, resource.quantum())) {
            deserved[*at] = share;
        }
    };
    divide_among(&tree.roots, capacity, &mut deserved);
    for (at, branch) in tree.branches.iter() {
        divide_among(&branch.children, deserved[at], &mut deserved);
    }
    deserved
}
