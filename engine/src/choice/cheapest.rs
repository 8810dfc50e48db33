//! Which node is the cheapest to free for a pod, and of which pods.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::nodes::{Group, NodeCandidates, Score, Search};
use super::rules::Rules;
use super::simulation::{Level, Simulation};
use crate::amounts::Amounts;
use crate::candidates::{Candidate, class, select_together};
use crate::leaf::Leaf;
use crate::nodes::{At, NodeResources};
use crate::snapshot::Shape;
use crate::tree::BranchId;

impl<'a> Simulation<'a> {
    /// The node that is the cheapest to free for a pod of `shape`, none of those `tried`, and the victims that `rules` let go.
    /// `group` names the pods that may go.
    pub(crate) fn cheapest(
        &mut self,
        shape: &'a Shape,
        group: Group,
        tried: &[At],
        rules: &dyn Rules<'a>,
    ) -> Option<(At, Vec<Candidate<'a>>)> {
        let none = NodeResources::none(self.context.usage);
        let node_resources = std::mem::replace(&mut self.node_resources, none);
        let everywhere = group.within_target.is_some();
        let known = self.searches.remove(&everywhere);
        let mut search = known.unwrap_or_else(|| self.search(&node_resources, everywhere));
        let mut pending_pod = PendingPod { node_resources: &node_resources, shape, rules, simulation: self };
        let found = pending_pod.cheapest(&mut search, group, tried);
        self.node_resources = node_resources;
        self.searches.insert(everywhere, search);
        found
    }

    /// The fewest of `candidates` that cover `needed` and that `rules` let go together, of those that may go one by one.
    pub(crate) fn fewest_victims(
        &mut self,
        candidates: &[Candidate<'a>],
        needed: &Amounts,
        rules: &dyn Rules<'a>,
    ) -> Option<Vec<Candidate<'a>>> {
        let helpful = candidates.iter().filter(|one| one.requests().overlaps(needed));
        let able = helpful.filter(|one| rules.may_go_alone(self, one, needed)).cloned().collect();
        let scale = self.context.capacity;
        select_together(able, needed, scale, &mut |chosen| rules.may_go(self, chosen, needed))
    }

    /// The candidates, by node: of the leaves above their targets, or of every leaf.
    fn search(&self, node_resources: &NodeResources<'a>, everywhere: bool) -> Search<'a> {
        let gives = |at: BranchId| everywhere || !self.over[at].is_empty();
        let leaves = self.context.each_leaf().filter(|leaf| gives(leaf.at) && !leaf.never_evicted);
        // On each node, too, the queue that is the farthest above its target gives first.
        let mut by_level: BTreeMap<Reverse<Level>, Vec<&Leaf<'a>>> = BTreeMap::new();
        for leaf in leaves {
            by_level.entry(Reverse(self.level(leaf.at))).or_default().push(leaf);
        }
        let candidates = by_level.values().zip(0..).flat_map(|(leaves, turn)| {
            let candidates = leaves.iter().flat_map(|leaf| &leaf.candidates(self.context.snapshot).may_go);
            candidates.map(move |candidate| (turn, candidate))
        });
        Search::new(node_resources, candidates)
    }
}

/// A pod that needs a place.
struct PendingPod<'s, 'a> {
    node_resources: &'s NodeResources<'a>,
    shape: &'a Shape,
    rules: &'s dyn Rules<'a>,
    simulation: &'s mut Simulation<'a>,
}

impl<'a> PendingPod<'_, 'a> {
    fn cheapest(
        &mut self,
        search: &mut Search<'a>,
        group: Group,
        tried: &[At],
    ) -> Option<(At, Vec<Candidate<'a>>)> {
        let (mut costs, to_look_at) = search.costs(group, self.shape);
        for at in to_look_at {
            if let Some((_, cost)) = self.look_at(at, search) {
                costs.insert(at, cost);
            }
        }
        let mut put_back = Vec::new();
        let mut found = None;
        while let Some(at) = costs.first(self.simulation) {
            if tried.contains(&at) {
                put_back.extend(costs.remove(at).map(|cost| (at, cost)));
                continue;
            }
            let Some((victims, cost)) = self.look_at(at, search) else {
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
        search.keep(group, self.shape, costs);
        found
    }

    /// The victims that make room on the node at `at`, what they cost, and the leaf whose level counts.
    fn look_at(
        &mut self,
        at: At,
        search: &mut Search<'a>,
    ) -> Option<(Vec<Candidate<'a>>, (BranchId, Score<'a>))> {
        let node_candidates = search.candidates(at, |one| self.simulation.is_gone(one))?;
        let candidates = u64::try_from(node_candidates.left().len()).unwrap_or(u64::MAX);
        let victims = self.victims(at, node_candidates);
        let count = victims.as_ref().map_or(0, Vec::len);
        if count != 1 {
            // Each victim is compared with all before it, which takes an eighth of a look.
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            let compared = count.saturating_mul(count) >> 3;
            self.simulation.looks = self.simulation.looks.saturating_add(candidates).saturating_add(compared);
        }
        let victims = victims?;
        let cost = self.cost(at, &victims)?;
        Some((victims, cost))
    }

    /// The victims that make room on the node at `at`, in two passes: first those that help it and may go one by one,
    /// then the fewest of them that suffice and may go together.
    fn victims(&mut self, at: At, candidates: &NodeCandidates<'a>) -> Option<Vec<Candidate<'a>>> {
        let shortfall = self.node_resources.shortfall(at, self.shape)?;
        if let Some(one) = self.one_suffices(candidates, &shortfall) {
            return Some(vec![one]);
        }
        self.simulation.fewest_victims(candidates.left(), &shortfall, self.rules)
    }

    /// The one victim that [`select`](super::select()) would choose, where that is plain: the first candidate suffices, and
    /// all of its class have one size. Most nodes run pods of few shapes, and this looks at few of them.
    fn one_suffices(
        &mut self,
        candidates: &NodeCandidates<'a>,
        shortfall: &Amounts,
    ) -> Option<Candidate<'a>> {
        let helpful = || candidates.left().iter().filter(|one| one.requests().overlaps(shortfall));
        let first = helpful().find(|one| self.rules.may_go_alone(self.simulation, one, shortfall))?;
        let of_its_class = |one: &&Candidate<'a>| class(one) == class(first);
        let of_its_size = |one: &Candidate<'a>| one.requests() == first.requests();
        let plain = shortfall.fits_in(first.requests())
            && (candidates.alike || helpful().filter(of_its_class).all(of_its_size));
        plain.then(|| first.clone())
    }

    /// What the victims of a node cost but for the level, and the leaf whose level counts: the least of them.
    fn cost(&self, node: At, victims: &[Candidate<'a>]) -> Option<(BranchId, Score<'a>)> {
        let leaves = victims.iter().map(|victim| victim.leaf);
        let leaf = leaves.min_by_key(|leaf| (self.simulation.level(*leaf), *leaf))?;
        let scale = self.simulation.context.capacity;
        Some((leaf, Score::of(victims, self.node_resources, node, self.shape, scale)))
    }
}
