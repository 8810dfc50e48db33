//! Places on nodes for pending pods: free ones first, else the node that is the cheapest to free.

use std::collections::BTreeMap;

use super::nodes::Group;
use super::rules::Scope;
use super::simulation::Simulation;
use crate::amounts::Amounts;
use crate::candidates::Candidate;
use crate::nodes::{At, NodeResources};
use crate::reasons::ShortReason;
use crate::snapshot::{Pod, Shape};
use crate::total::total;
use crate::tree::BranchId;

impl<'a> Simulation<'a> {
    /// The nodes, without what pods take that wait for one already, and pods that are about to be created.
    ///
    /// Of a queue above its target the least important of them are the first to go: no room is kept for them. Those within the
    /// target that no node has room for are returned.
    pub(super) fn look_at_nodes(&mut self) -> Vec<(BranchId, &'a Pod)> {
        let mut node_resources = NodeResources::settled(self.context.usage);
        let mut unplaced = Vec::new();
        let mut within: BTreeMap<BranchId, Amounts> = BTreeMap::new();
        for (namespace, pod) in super::unbound(self.context.snapshot) {
            let leaf = self.context.tree.leaves.get(namespace).copied();
            if let Some(at) = leaf {
                if self.context.leaf(at).is_some_and(|leaf| !leaf.could_run(pod)) {
                    unplaced.push((at, pod));
                    continue;
                }
                let room = within.entry(at).or_insert_with(|| self.beside_bound(at));
                // A target has no part of a resource that no node offers.
                let requests = pod.requests().of(self.context.governed);
                if !requests.fits_in(room) {
                    continue;
                }
                room.subtract_all(&requests);
            }
            if self.work.is_spent(leaf) {
                continue;
            }
            if let (None, Some(leaf)) = (node_resources.reserve(&pod.shape), leaf) {
                unplaced.push((leaf, pod));
            }
            self.work.spend(leaf, node_resources.take_looks());
        }
        (self.node_resources, self.looks_at_nodes) = (node_resources, true);
        unplaced
    }

    /// What of its target the leaf at `at` has for pods without a node.
    fn beside_bound(&self, at: BranchId) -> Amounts {
        let Some(leaf) = self.context.leaf(at) else { return Amounts::new() };
        let waits = |pod: &&Pod| pod.node.is_none() && pod.is_live() && leaf.could_run(pod);
        let unbound = total(leaf.state.pods.iter().filter(waits).map(Pod::requests));
        self.context.targets[at].less(&self.staying[at].less(&unbound))
    }

    /// Places one pod of `shape`: where there is room, or where pods go that may go. Says why if neither can be.
    pub(super) fn place_pod(&mut self, shape: &'a Shape, scope: &Scope) -> Result<(), ShortReason> {
        if self.work.is_spent(scope.beneficiary) {
            return Err(ShortReason::PlanLimit);
        }
        let placed = self.find_place(shape, scope);
        let of_nodes = self.node_resources.take_looks();
        let of_candidates = std::mem::take(&mut self.looks);
        self.work.spend(scope.beneficiary, of_nodes.saturating_add(of_candidates));
        placed
    }

    fn find_place(&mut self, shape: &'a Shape, scope: &Scope) -> Result<(), ShortReason> {
        if !self.looks_at_nodes {
            return Ok(());
        }
        if let Some(node) = self.node_resources.free_for(shape) {
            self.place(node, shape);
            return Ok(());
        }
        let group = Group {
            inside: scope.inside,
            within_target: scope.within_target.then_some(scope.beneficiary).flatten(),
            priority: scope.priority,
            exists: true,
        };
        let mut tried = Vec::new();
        loop {
            let Some((node, victims)) = self.cheapest(shape, group, &tried, scope) else {
                let possible = self.context.snapshot.could_run(shape);
                return Err(if possible { ShortReason::Fragmented } else { ShortReason::NoNodeFits });
            };
            let mark = self.mark();
            let unit = scope.unit.unwrap_or_else(|| self.next_unit(false));
            for candidate in &victims {
                self.take(candidate.clone(), scope.beneficiary, scope.reason, Some(unit));
            }
            self.place(node, shape);
            if !scope.within_target || self.place_elsewhere(node, &victims) {
                return Ok(());
            }
            // What is moved has to have somewhere to go.
            self.undo(mark);
            tried.push(node);
            if tried.len() >= MOST_NODES_TRIED {
                return Err(ShortReason::Fragmented);
            }
        }
    }

    /// Places the pods that make room on `node` on others, all of them together.
    fn place_elsewhere(&mut self, node: At, victims: &[Candidate<'a>]) -> bool {
        victims.iter().flat_map(Candidate::everything).all(|pod| {
            let other = self.node_resources.tightest(&pod.shape, Some(node));
            other.map(|other| self.place(other, &pod.shape)).is_some()
        })
    }
}

/// How many nodes are tried for a pod whose victims have to be placed elsewhere.
const MOST_NODES_TRIED: usize = 16;
