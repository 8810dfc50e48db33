//! What a queue would deserve if it asked for everything now: what is rightly its own.

use super::Claim;
use super::contest::Contest;
use crate::amounts::{Amount, Resource};
use crate::tree::{Index, Tree};

/// The fair shares of one resource; only the siblings on a queue's path are looked at anew for each.
pub(super) struct FairShares<'a> {
    tree: &'a Tree<'a>,
    claims: &'a [Claim],
    resource: &'a Resource,
    capacity: Amount,
    /// Among the roots, and among the children of each branch.
    roots: Contest,
    below: Vec<Option<Contest>>,
}

impl<'a> FairShares<'a> {
    pub(super) fn new(
        tree: &'a Tree<'a>,
        claims: &'a [Claim],
        resource: &'a Resource,
        capacity: Amount,
    ) -> Self {
        let contest = |siblings: &[Index]| {
            let among = siblings.iter().filter_map(|at| claims.get(*at).copied()).collect();
            Contest::new(among, resource.quantum())
        };
        let roots = contest(&tree.roots);
        let children = |children: &Vec<Index>| (!children.is_empty()).then(|| contest(children));
        let below = tree.branches.iter().map(|branch| children(&branch.children)).collect();
        Self { tree, claims, resource, capacity, roots, below }
    }

    /// What the branch at `at`, which deserves `deserved`, would deserve if it asked for everything while the others
    /// ask for what they do.
    pub(super) fn of(&self, at: Index, deserved: Amount) -> Amount {
        // From the branch up to the root: what each on the path claims instead.
        let mut path: Vec<(Index, Claim)> = Vec::new();
        for (index, branch) in self.tree.path_up(at) {
            let Some(before) = self.claims.get(index).copied() else { return deserved };
            let limit = branch.limit(self.resource);
            let own =
                |demand: Amount| branch.queue.guaranteed.get(self.resource).unwrap_or_default().min(demand);
            let after = match path.last() {
                None => {
                    let demand = self.capacity.min(limit);
                    let guaranteed = own(demand).max(before.guaranteed);
                    let lacks_already = deserved < before.demand && guaranteed == before.guaranteed;
                    if before.demand >= demand || lacks_already {
                        // It asks for everything already, or for more than it gets.
                        return deserved;
                    }
                    Claim { demand, guaranteed, ..before }
                }
                Some((child, claim)) => {
                    let was = self.claims.get(*child).copied().unwrap_or_default();
                    let more = claim.demand.less(was.demand.max(was.held));
                    let demand = (before.demand + more).min(limit);
                    let children = branch.children.iter().filter_map(|child| self.claims.get(*child));
                    let below: Amount = children.map(|child| child.guaranteed).sum();
                    let raised = below + claim.guaranteed - was.guaranteed;
                    Claim { demand, guaranteed: own(demand).max(raised).min(limit), ..before }
                }
            };
            path.push((index, after));
        }
        // And down again: what each on the path would get of what the one above it would get.
        let mut available = self.capacity;
        let mut above: Option<Index> = None;
        for (index, claim) in path.iter().rev() {
            let (contest, siblings) = match above
                .and_then(|above| Some((above, self.tree.branches.get(above)?)))
            {
                None => (Some(&self.roots), &self.tree.roots),
                Some((above, branch)) => (self.below.get(above).and_then(Option::as_ref), &branch.children),
            };
            // Siblings stand in the order of their indices.
            let Ok(position) = siblings.binary_search(index) else { return deserved };
            let Some(contest) = contest else { return deserved };
            available = contest.share_of(position, *claim, available);
            above = Some(*index);
        }
        available
    }
}
