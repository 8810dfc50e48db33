//! Which node is the cheapest to free for an ask, and of which pods.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::room::{At, NodeResources};
use super::score::Score;
use crate::amounts::Amounts;
use crate::choice::candidate::{Candidate, Together};
use crate::choice::order::{class, rank};
use crate::choice::select::select_together;
use crate::choice::simulation::Level;
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
    costs: FxHashMap<(Group, *const Shape), Costs>,
    /// The nodes whose room changed, in order.
    changed: Vec<At>,
    /// How many costs of nodes are known, at most.
    known: usize,
    /// How many candidates were looked at since that was asked last.
    looks: u64,
}

/// The most costs of nodes that are kept at a time: some 100 MB.
const MOST_COSTS: usize = 200_000;

/// What is known of the costs of nodes for one shape and group of givers: no more than they are now.
///
/// A queue that loses a pod is less far above its target, on all nodes at once. So nodes are ordered below the queue
/// whose level counts there, without the level, and queues by their cheapest nodes.
#[derive(Clone, Debug, Default)]
struct Costs {
    /// Of each node the queue whose level counts there, and the cost.
    of_nodes: FxHashMap<At, (BranchId, Score)>,
    of_leaves: FxHashMap<BranchId, LeafCosts>,
    /// The queues, by what is known of their first nodes; first those that are to be looked at again.
    leaves: BTreeSet<(Option<Cost>, BranchId)>,
    /// How many of the changes of nodes are known.
    seen: usize,
}

/// The nodes below one queue.
#[derive(Clone, Debug, Default)]
struct LeafCosts {
    /// Without the level.
    nodes: BTreeSet<Cost>,
    /// What is known of the first at the level of the queue; none if that is to be looked at again.
    first: Option<Cost>,
}

/// What a node costs; of two alike the first node wins.
type Cost = (Score, At);

impl Costs {
    fn insert(&mut self, at: At, (leaf, cost): (BranchId, Score)) {
        self.remove(at);
        self.of_leaves.entry(leaf).or_default().nodes.insert((cost.clone(), at));
        self.of_nodes.insert(at, (leaf, cost));
        self.note(leaf, None);
    }

    fn remove(&mut self, at: At) -> Option<(BranchId, Score)> {
        let (leaf, cost) = self.of_nodes.remove(&at)?;
        if let Some(of_leaf) = self.of_leaves.get_mut(&leaf) {
            of_leaf.nodes.remove(&(cost.clone(), at));
        }
        self.note(leaf, None);
        Some((leaf, cost))
    }

    fn note(&mut self, leaf: BranchId, first: Option<Cost>) {
        if let Some(of_leaf) = self.of_leaves.get_mut(&leaf) {
            self.leaves.remove(&(std::mem::replace(&mut of_leaf.first, first.clone()), leaf));
            self.leaves.insert((first, leaf));
        }
    }

    /// The cheapest node as far as is known, where queues are that far above their targets.
    fn first(&mut self, level: &dyn Fn(BranchId) -> Level) -> Option<At> {
        loop {
            let (known, leaf) = self.leaves.first()?.clone();
            let Some((cost, at)) = self.of_leaves.get(&leaf).and_then(|of_leaf| of_leaf.nodes.first()) else {
                self.leaves.pop_first();
                continue;
            };
            let (now, at) = (Some((cost.at_level(level(leaf)), *at)), *at);
            if known == now {
                return Some(at);
            }
            self.note(leaf, now);
        }
    }
}

/// The candidates on one node.
#[derive(Clone, Debug, Default)]
struct NodeCandidates<'a> {
    /// Least protected first.
    all: Vec<Candidate<'a>>,
    /// Whether they are known to request all the same, as most do.
    alike: bool,
    /// How many of the first are gone.
    gone: usize,
}

impl<'a> NodeCandidates<'a> {
    /// Those behind the first that are gone.
    fn left(&self) -> &[Candidate<'a>] {
        self.all.get(self.gone..).unwrap_or_default()
    }
}

/// Whose pods may go for an ask: asks of one group may share what is known of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    /// The part of the tree that gives.
    pub(crate) inside: Option<BranchId>,
    /// The leaf that asks, if pods go that their own queues may have.
    pub(crate) within_target: Option<BranchId>,
    /// The priority of the ask, if it is compared.
    pub(crate) priority: Option<i32>,
    /// Whether the pod that asks exists, which makes a difference inside a queue.
    pub(crate) exists: bool,
}

/// A pod that asks for a place, and what is known where it is decided.
pub(crate) trait Question<'a> {
    fn node_resources(&self) -> &NodeResources<'a>;
    fn shape(&self) -> &'a Shape;
    /// What there is of each resource.
    fn scale(&self) -> &'a Amounts;
    /// Whether some of a victim's pods are chosen already.
    fn is_gone(&self, victim: &Candidate<'a>) -> bool;
    /// Which of some victims on a node that lacks `shortfall`, in this order, may go together.
    fn may_go(&mut self, victims: &[Candidate<'a>], shortfall: &Amounts) -> Vec<bool>;
    /// How far a leaf is above its target.
    fn level(&self, leaf: BranchId) -> Level;

    /// Whether `victim` may go by itself.
    fn may_go_alone(&mut self, victim: &Candidate<'a>, shortfall: &Amounts) -> bool {
        self.may_go(std::slice::from_ref(victim), shortfall).iter().all(|may| *may)
    }

    /// What the victims of a node cost but for the level, and the leaf whose level counts: the least of them.
    fn cost(&self, node: At, victims: &[Candidate<'a>]) -> Option<(BranchId, Score)> {
        let first = victims.first()?.leaf;
        let leaf = if victims.iter().all(|victim| victim.leaf == first) {
            first
        } else {
            let levels = victims.iter().map(|victim| (self.level(victim.leaf), victim.leaf));
            levels.min().map(|(_, leaf)| leaf)?
        };
        Some((leaf, Score::of(victims, self.node_resources(), node, self.shape(), self.scale())))
    }
}

impl<'a> Search<'a> {
    /// `candidates` by node; those on nodes that do not count free no room. Of pods that go together each node has its part.
    pub(crate) fn new<'c>(
        node_resources: &NodeResources<'_>,
        candidates: impl Iterator<Item = &'c Candidate<'a>>,
    ) -> Self
    where
        'a: 'c,
    {
        let mut on_node: Vec<NodeCandidates<'a>> = Vec::new();
        on_node.resize_with(node_resources.len(), NodeCandidates::default);
        let mut settle = |at: At, candidate: Candidate<'a>| {
            if let Some(node_candidates) = on_node.get_mut(at) {
                node_candidates.all.push(candidate);
            }
        };
        let node_of = |pod: &Pod| node_resources.find(pod.node.as_ref()?);
        for candidate in candidates {
            let Some(together) = candidate.together.as_ref().filter(|together| together.pods.len() > 1)
            else {
                if let Some(at) = node_of(candidate.pod) {
                    settle(at, candidate.clone());
                }
                continue;
            };
            let mut nodes: BTreeMap<At, Amounts> = BTreeMap::new();
            for (at, pod) in candidate.pods().iter().filter_map(|pod| Some((node_of(pod)?, pod))) {
                nodes.entry(at).or_default().add_all(pod.requests());
            }
            for (at, requests) in nodes {
                let here = Together { requests, ..Together::clone(together) };
                settle(at, Candidate { together: Some(Rc::new(here)), ..candidate.clone() });
            }
        }
        for node_candidates in &mut on_node {
            node_candidates.all.sort_by(rank);
            let mut sizes = node_candidates.all.iter().map(Candidate::requests);
            let first = sizes.next();
            node_candidates.alike = sizes.all(|size| Some(size) == first);
        }
        Self { on_node, costs: FxHashMap::default(), changed: Vec::new(), known: 0, looks: 0 }
    }

    /// The cheapest node, none of those `tried`, that the pod which asks fits on once the returned victims are gone. `group`
    /// names whose pods may go.
    pub(crate) fn cheapest(
        &mut self,
        group: Group,
        tried: &[At],
        question: &mut dyn Question<'a>,
    ) -> Option<(At, Vec<Candidate<'a>>)> {
        let key: (Group, *const Shape) = (group, question.shape());
        let known = self.costs.remove(&key);
        if known.is_none() {
            let nodes = question.node_resources().len();
            self.known = self.known.saturating_add(nodes);
            if self.known > MOST_COSTS {
                self.forget();
                self.known = nodes;
            }
        }
        let to_look_at: BTreeSet<At> = match &known {
            Some(costs) => self.changed.iter().skip(costs.seen).copied().collect(),
            None => (0..question.node_resources().len()).collect(),
        };
        let mut costs = known.unwrap_or_default();
        costs.seen = self.changed.len();
        for at in to_look_at {
            if let Some((_, cost)) = self.look_at(at, question) {
                costs.insert(at, cost);
            }
        }
        let mut put_back = Vec::new();
        let mut found = None;
        while let Some(at) = costs.first(&|leaf| question.level(leaf)) {
            if tried.contains(&at) {
                put_back.extend(costs.remove(at).map(|cost| (at, cost)));
                continue;
            }
            let Some((victims, cost)) = self.look_at(at, question) else {
                costs.remove(at);
                continue;
            };
            if costs.of_nodes.get(&at) == Some(&cost) {
                found = Some((at, victims));
                break;
            }
            costs.insert(at, cost);
        }
        for (at, cost) in put_back {
            costs.insert(at, cost);
        }
        self.costs.insert(key, costs);
        found
    }

    /// The victims that make room on the node at `at`, what they cost, and the leaf whose level counts.
    fn look_at(
        &mut self,
        at: At,
        question: &mut dyn Question<'a>,
    ) -> Option<(Vec<Candidate<'a>>, (BranchId, Score))> {
        let node_candidates = self.on_node.get_mut(at)?;
        while node_candidates.left().first().is_some_and(|first| question.is_gone(first)) {
            node_candidates.gone = node_candidates.gone.saturating_add(1);
        }
        let candidates = u64::try_from(node_candidates.left().len()).unwrap_or(u64::MAX);
        let victims = self.victims(at, question)?;
        if victims.len() > 1 {
            self.looks = self.looks.saturating_add(candidates);
        }
        let cost = question.cost(at, &victims)?;
        Some((victims, cost))
    }

    /// How many candidates were looked at since this was asked last.
    pub(crate) fn take_looks(&mut self) -> u64 {
        std::mem::take(&mut self.looks)
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

    /// The victims that make room on the node at `at`, in two passes: first those that help it and may go one by one,
    /// then the fewest of them that suffice and may go together.
    fn victims(&self, at: At, question: &mut dyn Question<'a>) -> Option<Vec<Candidate<'a>>> {
        let shortfall = question.node_resources().shortfall(at, question.shape())?;
        let node_candidates = self.on_node.get(at)?;
        if let Some(one) = one_suffices(node_candidates, &shortfall, question) {
            return Some(vec![one]);
        }
        let left = node_candidates.left().iter();
        let helps = |one: &&Candidate<'a>| one.requests().overlaps(&shortfall);
        let able = left.filter(helps).filter(|one| question.may_go_alone(one, &shortfall));
        let (able, scale) = (able.cloned().collect(), question.scale());
        select_together(able, &shortfall, scale, &mut |chosen| question.may_go(chosen, &shortfall))
    }
}

/// The one victim that [`select`](crate::choice::select()) would choose, where that is plain: the first candidate suffices, and
/// all of its class have one size. Most nodes run pods of few shapes, and this looks at few of them.
fn one_suffices<'a>(
    node_candidates: &NodeCandidates<'a>,
    shortfall: &Amounts,
    question: &mut dyn Question<'a>,
) -> Option<Candidate<'a>> {
    let helpful = || node_candidates.left().iter().filter(|one| one.requests().overlaps(shortfall));
    let first = helpful().find(|one| question.may_go_alone(one, shortfall))?;
    let of_its_class = |one: &&Candidate<'a>| class(one) == class(first);
    let of_its_size = |one: &Candidate<'a>| one.requests() == first.requests();
    let plain = shortfall.fits_in(first.requests())
        && (node_candidates.alike || helpful().filter(of_its_class).all(of_its_size));
    plain.then(|| first.clone())
}
