//! What is held and still too much, as victims are chosen one after the other.

use crate::amounts::{Amount, Amounts, Resource};
use crate::snapshot::{Pod, Snapshot};
use crate::tree::{Index, Tree};

use super::Party;

/// The books of one reclaim; every list has an entry a branch.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// What is occupied below each branch once things have settled and the victims so far are gone.
    pub(super) settled: Vec<Amounts>,
    /// What is occupied, within their queues' shares, by pods that no node could run: nobody goes for them.
    pub(super) impossible: Amounts,
    /// What each leaf still holds above its share.
    pub(super) overuse: Vec<Amounts>,
}

impl Balance {
    pub(super) fn new(
        snapshot: &Snapshot,
        tree: &Tree<'_>,
        parties: &[Option<Party<'_>>],
        resources: &[&Resource],
    ) -> Self {
        let of_leaves = |amount: &dyn Fn(&Party<'_>, &Resource) -> Amount| -> Vec<Amounts> {
            parties
                .iter()
                .map(|party| {
                    let Some(party) = party else { return Amounts::new() };
                    resources.iter().map(|resource| ((*resource).clone(), amount(party, resource))).collect()
                })
                .collect()
        };
        let mut balance = Self {
            settled: tree.sums(of_leaves(&|party, resource| party.settled(resource))),
            impossible: Amounts::new(),
            overuse: of_leaves(&|party, resource| party.overuse(resource)),
        };
        for party in parties.iter().flatten().filter(|party| party.headcount.stuck) {
            for (resource, amount) in impossible(snapshot, party).iter() {
                if party.overuse(resource).is_zero() {
                    balance.impossible.add(resource, amount);
                }
            }
        }
        balance
    }

    /// The sum over the roots.
    pub(super) fn everywhere(tree: &Tree<'_>, list: &[Amounts]) -> Amounts {
        let mut sum = Amounts::new();
        for root in &tree.roots {
            if let Some(amounts) = list.get(*root) {
                sum.add_all(amounts);
            }
        }
        sum
    }

    /// Books the eviction of a pod of the leaf at `at`: what it frees for others.
    ///
    /// What a queue gives below its share helps nobody: its quota lets it in again.
    pub(super) fn evict(&mut self, tree: &Tree<'_>, at: Index, requests: &Amounts) -> Amounts {
        let Some(overuse) = self.overuse.get_mut(at) else { return Amounts::new() };
        let freed = requests.min(overuse);
        *overuse = overuse.less(requests);
        let path: Vec<Index> = tree.path_up(at).map(|(index, _)| index).collect();
        for index in path {
            if let Some(settled) = self.settled.get_mut(index) {
                *settled = settled.less(&freed);
            }
        }
        freed
    }
}

/// What pods of the party request that wait for a node and that no node could run.
fn impossible(snapshot: &Snapshot, party: &Party<'_>) -> Amounts {
    let mut sum = Amounts::new();
    let waits = |pod: &&Pod| pod.is_live() && pod.node.is_none() && pod.stuck.is_some();
    for pod in party.state.pods.iter().filter(waits).filter(|pod| !snapshot.could_run(&pod.shape)) {
        sum.add_all(pod.requests());
    }
    sum
}
