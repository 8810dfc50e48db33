//! The candidates by node, and what is known of the costs of nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::score::Score;
use crate::amounts::Amounts;
use crate::candidates::{Candidate, Together, are_alike, class, turn};
use crate::choice::simulation::Simulation;
use crate::choice::sorted_tree::{ByLevel, SortedTree};
use crate::nodes::{At, NodeResources};
use crate::shares::Fraction;
use crate::snapshot::{Pod, Shape};
use crate::tree::BranchId;

/// The candidates by node, and what is known of the costs of nodes.
///
/// Costs are computed for all nodes once per shape and group of givers. Later they are looked at again only when a
/// node comes up as the cheapest: while victims are chosen, nodes only become more expensive, but for the ones that
/// were just freed.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a> {
    on_node: Vec<NodeCandidates<'a>>,
    costs: FxHashMap<(Group, *const Shape), Costs<'a>>,
    /// The nodes whose room changed, in order.
    changed: Vec<At>,
    /// How many costs of nodes are known, at most.
    known: usize,
}

/// The most costs of nodes that are kept at a time: some 100 MB.
const MOST_COSTS: usize = 200_000;

/// What is known of the costs of nodes for one shape and group of givers: no more than they are now.
///
/// A queue that loses a pod is less far above its target, on all nodes at once, and so is every queue above it. So nodes are
/// ordered below the queue whose level counts there, without the level, and queues among their siblings by their first nodes.
#[derive(Clone, Debug, Default)]
pub(in crate::choice) struct Costs<'a> {
    /// Of each node the queue whose level counts there, and the cost.
    pub(in crate::choice) of_nodes: FxHashMap<At, (BranchId, Score<'a>)>,
    /// The nodes of each leaf, without the level.
    of_leaves: FxHashMap<BranchId, BTreeSet<Cost<'a>>>,
    /// The leaves by their first nodes.
    leaves: SortedTree<Cost<'a>>,
    /// The leaves of which nodes came or went since.
    stale: Vec<BranchId>,
    /// How many of the changes of nodes are known.
    seen: usize,
}

/// What a node costs; of two alike the first node wins.
type Cost<'a> = (Score<'a>, At);

impl ByLevel for Cost<'_> {
    fn of_parent(&self, above: Fraction) -> Self {
        let (score, node) = self;
        (score.below(above), *node)
    }
}

impl<'a> Costs<'a> {
    pub(in crate::choice) fn insert(&mut self, at: At, (leaf, cost): (BranchId, Score<'a>)) {
        self.remove(at);
        self.of_leaves.entry(leaf).or_default().insert((cost.clone(), at));
        self.of_nodes.insert(at, (leaf, cost));
        self.stale.push(leaf);
    }

    pub(in crate::choice) fn remove(&mut self, at: At) -> Option<(BranchId, Score<'a>)> {
        let (leaf, cost) = self.of_nodes.remove(&at)?;
        if let Some(nodes) = self.of_leaves.get_mut(&leaf) {
            nodes.remove(&(cost.clone(), at));
        }
        self.stale.push(leaf);
        Some((leaf, cost))
    }

    /// The cheapest node as far as is known, where queues are as far above their targets as in `simulation`.
    pub(in crate::choice) fn first(&mut self, simulation: &Simulation<'_>) -> Option<At> {
        let first = |leaf: BranchId| self.of_leaves.get(&leaf)?.first();
        let key = |leaf| first(leaf).map(|(cost, node)| (cost.at_level(simulation.own_level(leaf)), *node));
        for leaf in self.stale.drain(..) {
            self.leaves.sort(leaf, key(leaf), simulation.context.tree, &simulation.above);
        }
        loop {
            let (_, leaf) = self.leaves.first()?;
            if !self.leaves.sort(leaf, key(leaf), simulation.context.tree, &simulation.above) {
                return first(leaf).map(|(_, node)| *node);
            }
        }
    }
}

/// The candidates on one node.
#[derive(Clone, Debug, Default)]
pub(in crate::choice) struct NodeCandidates<'a> {
    /// Least protected first.
    all: Vec<Candidate<'a>>,
    /// Whether they are known to request all the same, as most do.
    pub(in crate::choice) alike: bool,
    /// How many of the first are gone.
    gone: usize,
}

impl<'a> NodeCandidates<'a> {
    fn of(mut all: Vec<(usize, Candidate<'a>)>) -> Self {
        let order = |(at, one): &(usize, Candidate<'a>)| (class(one), *at, turn(one.pod));
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        let all: Vec<Candidate<'a>> = all.into_iter().map(|(_, candidate)| candidate).collect();
        Self { alike: are_alike(&all), all, gone: 0 }
    }

    /// Those behind the first that are gone.
    pub(in crate::choice) fn left(&self) -> &[Candidate<'a>] {
        self.all.get(self.gone..).unwrap_or_default()
    }
}

/// Whose pods may go for a pending pod: those of one group may share what is known of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    /// The part of the tree that gives.
    pub(crate) inside: Option<BranchId>,
    /// The leaf of the pending pod, if pods go that their own queues may have.
    pub(crate) within_target: Option<BranchId>,
    /// The priority of the pending pod, if it is compared.
    pub(crate) priority: Option<i32>,
    /// Whether the pending pod exists, which makes a difference inside a queue.
    pub(crate) exists: bool,
}

impl<'a> Search<'a> {
    /// `candidates` by node, each with the turn of its queue among the candidates of its class. Those on nodes that do not count
    /// free no room. Of pods that go together each node has its part.
    pub(crate) fn new<'c>(
        node_resources: &NodeResources<'_>,
        candidates: impl Iterator<Item = (usize, &'c Candidate<'a>)>,
    ) -> Self
    where
        'a: 'c,
    {
        let mut on_node: Vec<Vec<(usize, Candidate<'a>)>> = Vec::new();
        on_node.resize_with(node_resources.len(), Vec::new);
        let mut settle = |at: At, turn: usize, candidate: Candidate<'a>| {
            if let Some(all) = on_node.get_mut(at) {
                all.push((turn, candidate));
            }
        };
        let node_of = |pod: &Pod| node_resources.find(pod.node.as_ref()?);
        for (turn, candidate) in candidates {
            let Some(together) = candidate.together.as_ref().filter(|together| together.pods.len() > 1)
            else {
                if let Some(at) = node_of(candidate.pod) {
                    settle(at, turn, candidate.clone());
                }
                continue;
            };
            let mut nodes: BTreeMap<At, Amounts> = BTreeMap::new();
            for (at, pod) in candidate.pods().iter().filter_map(|pod| Some((node_of(pod)?, pod))) {
                nodes.entry(at).or_default().add_all(pod.requests());
            }
            for (at, requests) in nodes {
                let here = Together { requests, ..Together::clone(together) };
                settle(at, turn, Candidate { together: Some(Rc::new(here)), ..candidate.clone() });
            }
        }
        let on_node = on_node.into_iter().map(NodeCandidates::of).collect();
        Self { on_node, costs: FxHashMap::default(), changed: Vec::new(), known: 0 }
    }

    /// What is known of the costs for `shape` where the pods of `group` may go, and the nodes that are to be looked at again.
    pub(in crate::choice) fn costs(&mut self, group: Group, shape: &Shape) -> (Costs<'a>, BTreeSet<At>) {
        let nodes = self.on_node.len();
        let (mut costs, to_look_at) =
            if let Some(costs) = self.costs.remove(&(group, std::ptr::from_ref(shape))) {
                let changed = self.changed.iter().skip(costs.seen).copied().collect();
                (costs, changed)
            } else {
                self.known = self.known.saturating_add(nodes);
                if self.known > MOST_COSTS {
                    self.forget();
                    self.known = nodes;
                }
                (Costs::default(), (0..nodes).collect())
            };
        costs.seen = self.changed.len();
        (costs, to_look_at)
    }

    /// Keeps what is known of costs.
    pub(in crate::choice) fn keep(&mut self, group: Group, shape: &Shape, costs: Costs<'a>) {
        self.costs.insert((group, std::ptr::from_ref(shape)), costs);
    }

    /// The candidates on the node at `at`, without the first that are gone.
    pub(in crate::choice) fn candidates(
        &mut self,
        at: At,
        is_gone: impl Fn(&Candidate<'a>) -> bool,
    ) -> Option<&NodeCandidates<'a>> {
        let node_candidates = self.on_node.get_mut(at)?;
        while node_candidates.left().first().is_some_and(&is_gone) {
            node_candidates.gone = node_candidates.gone.saturating_add(1);
        }
        Some(node_candidates)
    }

    /// The node at `at` has another room than before, because a pod is gone or back: it may have become cheaper.
    pub(crate) fn changed(&mut self, at: At, is_back: bool) {
        if let Some(node_candidates) = self.on_node.get_mut(at).filter(|_| is_back) {
            node_candidates.gone = 0;
        }
        self.changed.push(at);
    }

    /// Forgets what is known of costs.
    pub(crate) fn forget(&mut self) {
        self.known = 0;
        self.costs.clear();
        self.changed.clear();
    }
}
