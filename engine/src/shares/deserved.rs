//! What every queue of the tree deserves of every resource.

use super::{Claim, divide};
use crate::amounts::{Amount, Amounts, Resource};
use crate::tree::{Index, Tree};

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
    /// What it asks for, whatever its limit.
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
    wishes: &[Wish],
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<Shares> {
    let mut all = vec![Shares::default(); tree.branches.len()];
    let everything = vec![Wish { asked: capacity.clone(), held: Amounts::new() }; tree.branches.len()];
    for resource in resources {
        let available = capacity.get(resource);
        let claims = claims(tree, wishes, resource);
        let deserved = divide_down(tree, &claims, resource, available);
        let nominal = divide_down(tree, &self::claims(tree, &everything, resource), resource, available);
        for (at, branch) in tree.branches.iter().enumerate() {
            let (Some(shares), Some(claim), Some(deserved_here), Some(nominal)) =
                (all.get_mut(at), claims.get(at), deserved.get(at), nominal.get(at))
            else {
                continue;
            };
            shares.demand.set(resource, claim.demand);
            shares.deserved.set(resource, *deserved_here);
            shares.nominal.set(resource, *nominal);
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
fn claims(tree: &Tree<'_>, wishes: &[Wish], resource: &Resource) -> Vec<Claim> {
    let mut claims = vec![Claim::default(); tree.branches.len()];
    for at in (0..tree.branches.len()).rev() {
        let Some(branch) = tree.branches.get(at) else { continue };
        let below = children_sum(&claims, &branch.children);
        let wish = wishes.get(at).filter(|_| branch.is_leaf());
        let asked = wish.map_or(below.demand, |wish| wish.asked.get(resource));
        let demand = asked.min(branch.limit(resource));
        let own = branch.queue.guaranteed.get(resource).unwrap_or_default().min(demand);
        let held = wish.map(|wish| wish.held.get(resource)).unwrap_or_default();
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
