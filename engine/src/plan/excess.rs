//! What is too much for limits and the cluster, whoever gains from it.

use super::Eviction;
use super::reach::Withheld;
use crate::amounts::{Amount, Amounts, Resource};
use crate::grants::Holder;
use crate::tree::{Branch, Index, Tree};

/// What queues occupy without the room that pods of restrained queues only wait for.
///
/// Where a limit or the cluster is exceeded, pods wait, and an eviction is for them although it names no queue. If all of
/// them are of queues for which no pod is evicted, the eviction is withheld.
pub(super) struct Excess<'a> {
    tree: &'a Tree<'a>,
    capacity: &'a Amounts,
    /// An entry a branch.
    settled: Vec<Amounts>,
    /// What restrains the first queue whose pods only wait.
    cause: Option<Withheld>,
}

impl<'a> Excess<'a> {
    /// What there is too much of where leaves have what is `granted`; an entry a branch.
    pub(super) fn of(
        tree: &'a Tree<'a>,
        holders: &[Option<Holder<'_>>],
        granted: &[Amounts],
        capacity: &'a Amounts,
    ) -> Self {
        let mut cause = None;
        let leaves = tree.branches.iter().zip(holders.iter().zip(granted));
        let settled = leaves.map(|(branch, (holder, granted))| {
            let Some(holder) = holder else { return Amounts::new() };
            let headcount = holder.headcount;
            let all = granted.max(&headcount.all_staying());
            let Some(withheld) = branch.reach.withheld() else { return all };
            let running = headcount.bound.less(&headcount.leaving);
            if !all.less(&running).is_empty() {
                cause.get_or_insert(withheld);
            }
            running
        });
        let settled = tree.sums(settled.collect());
        Self { tree, capacity, settled, cause }
    }

    /// What withholds an eviction that names no queue; none if it is needed whatever restrained queues wait for.
    pub(super) fn cause(&self, eviction: &Eviction) -> Option<Withheld> {
        if eviction.beneficiary.is_some() {
            return None;
        }
        let at = *self.tree.leaves.get(&eviction.queue.namespace)?;
        let mut resources = eviction.requests.resources();
        let is_needed = resources.any(|resource| self.is_exceeded(at, resource));
        self.cause.clone().filter(|_| !is_needed)
    }

    /// The pod of `eviction` goes.
    pub(super) fn take(&mut self, eviction: &Eviction) {
        let Some(at) = self.tree.leaves.get(&eviction.queue.namespace) else { return };
        for (index, _) in self.tree.path_up(*at) {
            if let Some(settled) = self.settled.get_mut(index) {
                *settled = settled.less(&eviction.requests);
            }
        }
    }

    /// Whether the leaf at `at`, a queue above it or the cluster has more than it may.
    fn is_exceeded(&self, at: Index, resource: &Resource) -> bool {
        let settled =
            |index: Index| self.settled.get(index).map(|settled| settled.get(resource)).unwrap_or_default();
        let above_limit = |(index, branch): (Index, &Branch<'_>)| settled(index) > branch.limit(resource);
        let all: Amount = self.tree.roots.iter().map(|root| settled(*root)).sum();
        all > self.capacity.get(resource) || self.tree.path_up(at).any(above_limit)
    }
}
