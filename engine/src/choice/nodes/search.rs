//! Which node is the cheapest to free for an ask, and of which pods.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
/// node comes up as the cheapest: while victims are chosen, nodes only become more expensive, but for the one that
/// was just freed.
#[derive(Clone, Debug)]
pub(crate) struct Search<'a> {
    on_node: Vec<NodeCandidates<'a>>,
    costs: FxHashMap<(Group, *const Shape), Cheapest>,
}

/// The candidates on one node.
#[derive(Clone, Debug, Default)]
struct NodeCandidates<'a> {
    /// Least protected first.
    all: Vec<NodeCandidate<'a>>,
    /// Whether they are known to request all the same, as most do.
    alike: bool,
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
    /// Which of some victims on a node, in this order, may go together.
    fn may_go(&mut self, node: At, victims: &[NodeCandidate<'a>]) -> Vec<bool>;
    /// How far a leaf is above its target.
    fn level(&self, leaf: Index) -> Level;

    fn score(&self, node: At, victims: &[NodeCandidate<'a>]) -> Score {
        let level = victims.iter().map(|victim| self.level(victim.leaf)).min().unwrap_or_default();
        Score::of(victims, self.node_resources(), node, self.shape(), self.scale(), level)
    }
}

/// Nodes, the cheapest first; one without a score is to be looked at again.
type Cheapest = BinaryHeap<Reverse<(Option<Score>, At)>>;

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
        Self { on_node, costs: FxHashMap::default() }
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
        let mut heap = match self.costs.remove(&key) {
            Some(heap) => heap,
            None => (0..question.node_resources().len())
                .filter_map(|at| {
                    let victims = self.victims(at, question)?;
                    Some(Reverse((Some(question.score(at, &victims)), at)))
                })
                .collect(),
        };
        let mut found = None;
        let mut put_back = Vec::new();
        while let Some(Reverse((known, at))) = heap.pop() {
            if tried.contains(&at) {
                put_back.push(Reverse((known, at)));
                continue;
            }
            let Some(victims) = self.victims(at, question) else { continue };
            let score = Some(question.score(at, &victims));
            if heap.peek().is_none_or(|Reverse((next, other))| (&score, at) <= (next, *other)) {
                heap.push(Reverse((score, at)));
                found = Some((at, victims));
                break;
            }
            heap.push(Reverse((score, at)));
        }
        heap.extend(put_back);
        self.costs.insert(key, heap);
        found
    }

    /// The node at `at` has another room than before: it may have become cheaper.
    pub(crate) fn changed(&mut self, at: At) {
        for heap in self.costs.values_mut() {
            heap.push(Reverse((None, at)));
        }
    }

    /// Forgets what is known of costs.
    pub(crate) fn forget(&mut self) {
        self.costs.clear();
    }

    /// The victims that make room on the node at `at`, in two passes: first those that help it and may go one by one,
    /// then the fewest of them that suffice and may go together.
    fn victims(&self, at: At, question: &mut dyn Question<'a>) -> Option<Vec<NodeCandidate<'a>>> {
        let shortfall = question.node_resources().shortfall(at, question.shape())?;
        let node_candidates = self.on_node.get(at)?;
        let helps =
            |node_candidate: &&NodeCandidate<'a>| node_candidate.candidate.requests().overlaps(&shortfall);
        if let Some(one) = one_suffices(node_candidates, &shortfall, at, question) {
            return Some(vec![one]);
        }
        let mut alone = |node_candidate: &&NodeCandidate<'a>| {
            question.may_go(at, std::slice::from_ref(*node_candidate)).iter().all(|may| *may)
        };
        let mut able: Vec<NodeCandidate<'a>> =
            node_candidates.all.iter().filter(helps).filter(&mut alone).cloned().collect();
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
    let helpful = || node_candidates.all.iter().filter(|one| one.candidate.requests().overlaps(shortfall));
    let first =
        helpful().find(|one| question.may_go(at, std::slice::from_ref(one)).iter().all(|may| *may))?;
    let of_its_class = |one: &&NodeCandidate<'a>| class(&one.candidate) == class(&first.candidate);
    let of_its_size = |one: &NodeCandidate<'a>| one.candidate.requests() == first.candidate.requests();
    let plain = shortfall.fits_in(first.candidate.requests())
        && (node_candidates.alike || helpful().filter(of_its_class).all(of_its_size));
    plain.then(|| first.clone())
}
