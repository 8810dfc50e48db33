//! Which node is the cheapest to free for an ask, and of which pods.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::room::{At, NodeResources};
use super::score::Score;
use crate::amounts::Amounts;
use crate::choice::candidate::{Candidate, WholeGang, sum};
use crate::choice::order::{class, rank};
use crate::choice::select::select;
use crate::choice::simulation::Level;
use crate::snapshot::Shape;
use crate::tree::Index;

/// A candidate on the node that it occupies.
#[derive(Clone, Debug)]
pub(crate) struct NodeCandidate<'a> {
    /// The leaf that would lose it.
    pub(crate) leaf: Index,
    /// Of a gang as a whole: with what it occupies on this node alone.
    pub(crate) candidate: Candidate<'a>,
}

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
    of_nodes: FxHashMap<At, (Index, Score)>,
    of_leaves: FxHashMap<Index, LeafCosts>,
    /// The queues, by what is known of their first nodes; first those that are to be looked at again.
    leaves: BTreeSet<(Option<Cost>, Index)>,
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
    fn insert(&mut self, at: At, (leaf, cost): (Index, Score)) {
        self.remove(at);
        self.of_leaves.entry(leaf).or_default().nodes.insert((cost.clone(), at));
        self.of_nodes.insert(at, (leaf, cost));
        self.note(leaf, None);
    }

    fn remove(&mut self, at: At) -> Option<(Index, Score)> {
        let (leaf, cost) = self.of_nodes.remove(&at)?;
        if let Some(of_leaf) = self.of_leaves.get_mut(&leaf) {
            of_leaf.nodes.remove(&(cost.clone(), at));
        }
        self.note(leaf, None);
        Some((leaf, cost))
    }

    fn note(&mut self, leaf: Index, first: Option<Cost>) {
        if let Some(of_leaf) = self.of_leaves.get_mut(&leaf) {
            self.leaves.remove(&(std::mem::replace(&mut of_leaf.first, first.clone()), leaf));
            self.leaves.insert((first, leaf));
        }
    }

    /// The cheapest node as far as is known, where queues are that far above their targets.
    fn first(&mut self, level: &dyn Fn(Index) -> Level) -> Option<At> {
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
    all: Vec<NodeCandidate<'a>>,
    /// Whether they are known to request all the same, as most do.
    alike: bool,
    /// How many of the first are gone.
    gone: usize,
}

impl<'a> NodeCandidates<'a> {
    /// Those behind the first that are gone.
    fn left(&self) -> &[NodeCandidate<'a>] {
        self.all.get(self.gone..).unwrap_or_default()
    }
}

/// Whose pods may go for an ask: asks of one group may share what is known of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    /// The part of the tree that gives.
    pub(crate) inside: Option<Index>,
    /// The leaf that asks, if pods go that their own queues may have.
    pub(crate) within_target: Option<Index>,
    /// The priority of the ask, if it is compared.
    pub(crate) priority: Option<i32>,
}

/// A pod that asks for a place, and what is known where it is decided.
pub(crate) trait Question<'a> {
    fn node_resources(&self) -> &NodeResources<'a>;
    fn shape(&self) -> &'a Shape;
    /// What there is of each resource.
    fn scale(&self) -> &'a Amounts;
    /// Whether some of a victim's pods are chosen already.
    fn is_gone(&self, victim: &NodeCandidate<'a>) -> bool;
    /// Which of some victims on a node, in this order, may go together.
    fn may_go(&mut self, node: At, victims: &[NodeCandidate<'a>]) -> Vec<bool>;
    /// How far a leaf is above its target.
    fn level(&self, leaf: Index) -> Level;

    /// What the victims of a node cost but for the level, and the leaf whose level counts: the least of them.
    fn cost(&self, node: At, victims: &[NodeCandidate<'a>]) -> Option<(Index, Score)> {
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
    /// `candidates` by leaf; those on nodes that do not count free no room.
    pub(crate) fn new<'c>(
        node_resources: &NodeResources<'_>,
        candidates: impl Iterator<Item = (Index, &'c Candidate<'a>)>,
    ) -> Self
    where
        'a: 'c,
    {
        let mut on_node: Vec<NodeCandidates<'a>> = Vec::new();
        on_node.resize_with(node_resources.len(), NodeCandidates::default);
        let mut settle = |at: At, leaf: Index, candidate: Candidate<'a>| {
            if let Some(node_candidates) = on_node.get_mut(at) {
                node_candidates.all.push(NodeCandidate { leaf, candidate });
            }
        };
        for (leaf, candidate) in candidates {
            let Some(gang) = &candidate.gang else {
                if let Some(at) = candidate.pod.node.as_ref().and_then(|node| node_resources.find(node)) {
                    settle(at, leaf, candidate.clone());
                }
                continue;
            };
            let mut nodes: Vec<(At, Amounts)> = Vec::new();
            for pod in candidate.pods() {
                let Some(at) = pod.node.as_ref().and_then(|node| node_resources.find(node)) else { continue };
                match nodes.iter_mut().find(|(other, _)| *other == at) {
                    Some((_, room)) => room.add_all(pod.requests()),
                    None => nodes.push((at, pod.requests().clone())),
                }
            }
            for (at, requests) in nodes {
                let (floor, surplus) = (gang.floor.clone(), gang.surplus.clone());
                let here = Some(Rc::new(WholeGang { floor, surplus, requests }));
                settle(at, leaf, Candidate { gang: here, ..candidate.clone() });
            }
        }
        for node_candidates in &mut on_node {
            node_candidates.all.sort_by(|a, b| rank(&a.candidate, &b.candidate));
            let first = node_candidates.all.first();
            let like_first = |one: &NodeCandidate<'a>| {
                first.is_some_and(|first| first.candidate.requests() == one.candidate.requests())
            };
            node_candidates.alike = node_candidates.all.iter().all(like_first);
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
    ) -> Option<(At, Vec<NodeCandidate<'a>>)> {
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
    ) -> Option<(Vec<NodeCandidate<'a>>, (Index, Score))> {
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
    fn victims(&self, at: At, question: &mut dyn Question<'a>) -> Option<Vec<NodeCandidate<'a>>> {
        let shortfall = question.node_resources().shortfall(at, question.shape())?;
        let node_candidates = self.on_node.get(at)?;
        let helps = |one: &&NodeCandidate<'a>| one.candidate.requests().overlaps(&shortfall);
        if let Some(one) = one_suffices(node_candidates, &shortfall, at, question) {
            return Some(vec![one]);
        }
        let mut alone = |node_candidate: &&NodeCandidate<'a>| {
            question.may_go(at, std::slice::from_ref(*node_candidate)).iter().all(|may| *may)
        };
        let mut able: Vec<NodeCandidate<'a>> =
            node_candidates.left().iter().filter(helps).filter(&mut alone).cloned().collect();
        loop {
            let candidates: Vec<Candidate<'a>> =
                able.iter().map(|node_candidate| node_candidate.candidate.clone()).collect();
            if !shortfall.fits_in(&sum(&candidates)) {
                return None;
            }
            let chosen: Vec<NodeCandidate<'a>> = select(candidates, &shortfall, question.scale())
                .into_iter()
                .filter_map(|chosen| {
                    let same = |node_candidate: &&NodeCandidate<'a>| {
                        node_candidate.candidate.pod.uid == chosen.pod.uid
                            && node_candidate.candidate.gang.is_some() == chosen.gang.is_some()
                    };
                    able.iter().find(same).cloned()
                })
                .collect();
            let verdicts = question.may_go(at, &chosen);
            if verdicts.iter().all(|may| *may) {
                return Some(chosen);
            }
            let refused: Vec<&NodeCandidate<'a>> = chosen
                .iter()
                .zip(&verdicts)
                .filter(|(_, may)| !**may)
                .map(|(node_candidate, _)| node_candidate)
                .collect();
            able.retain(|one| refused.iter().all(|other| other.candidate.pod.uid != one.candidate.pod.uid));
        }
    }
}

/// The one victim that [`select`] would choose, where that is plain: the first candidate suffices, and all of its class
/// have one size. Most nodes run pods of few shapes, and this looks at few of them.
fn one_suffices<'a>(
    node_candidates: &NodeCandidates<'a>,
    shortfall: &Amounts,
    at: At,
    question: &mut dyn Question<'a>,
) -> Option<NodeCandidate<'a>> {
    let helpful = || node_candidates.left().iter().filter(|one| one.candidate.requests().overlaps(shortfall));
    let first =
        helpful().find(|one| question.may_go(at, std::slice::from_ref(one)).iter().all(|may| *may))?;
    let of_its_class = |one: &&NodeCandidate<'a>| class(&one.candidate) == class(&first.candidate);
    let of_its_size = |one: &NodeCandidate<'a>| one.candidate.requests() == first.candidate.requests();
    let plain = shortfall.fits_in(first.candidate.requests())
        && (node_candidates.alike || helpful().filter(of_its_class).all(of_its_size));
    plain.then(|| first.clone())
}
