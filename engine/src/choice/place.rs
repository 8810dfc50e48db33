//! Places on nodes for the pods of an ask: free ones first, else the node that is the cheapest to free.

use std::collections::BTreeMap;

use super::nodes::{At, Group, Question, Resident, Rooms, Search};
use super::rules::Errand;
use super::simulation::{Level, Simulation};
use crate::amounts::{Amount, Amounts};
use crate::reason::Reason;
use crate::snapshot::{Pod, Shape};
use crate::tree::Index;

impl<'a> Simulation<'a> {
    /// The nodes, without what pods take that wait for one already, and pods that are about to be created.
    ///
    /// Of a queue above its target the least important of them are the first to go: no room is kept for them. Those within the
    /// target that no node has room for are returned.
    pub(super) fn look_at_nodes(&mut self) -> Vec<(Index, &'a Pod)> {
        let mut rooms = Rooms::of(self.case.snapshot, self.case.census);
        let mut homeless = Vec::new();
        let mut within: BTreeMap<Index, Amounts> = BTreeMap::new();
        for (namespace, pod) in super::unbound(self.case.snapshot) {
            let leaf = self.case.tree.leaves.get(namespace).copied();
            if let Some(at) = leaf {
                let room = within.entry(at).or_insert_with(|| self.beside_bound(at));
                let requests = pod.requests().of(self.case.resources);
                if !requests.fits_in(room) {
                    continue;
                }
                room.subtract_all(&requests);
            }
            if let (None, Some(leaf)) = (rooms.reserve(&pod.shape), leaf) {
                homeless.push((leaf, pod));
            }
        }
        self.rooms = Some(rooms);
        homeless
    }

    /// What of its target the leaf at `at` has for pods without a node.
    fn beside_bound(&self, at: Index) -> Amounts {
        let Some(party) = self.case.party(at) else { return Amounts::new() };
        let mut unbound = Amounts::new();
        let waits = |pod: &&Pod| pod.node.is_none() && pod.is_live() && party.leaf.could_run(pod);
        for pod in party.state.pods.iter().filter(waits) {
            unbound.add_all(pod.requests());
        }
        let staying = self.staying.get(at).cloned().unwrap_or_default();
        party.target.less(&staying.less(&unbound))
    }

    /// Places one pod of `shape`: where there is room, or where pods go that may go. Says why if neither can be.
    pub(super) fn place_pod(&mut self, shape: &'a Shape, errand: &Errand) -> Result<(), Reason> {
        let Some(rooms) = &mut self.rooms else { return Ok(()) };
        if let Some(node) = rooms.free_for(shape) {
            self.place(node, shape);
            return Ok(());
        }
        let mut tried = Vec::new();
        loop {
            let Some((node, victims)) = self.cheapest(shape, errand, &tried) else {
                let possible = self.rooms.as_ref().is_some_and(|rooms| rooms.could_run(shape));
                return Err(if possible { Reason::Fragmented } else { Reason::NoNodeFits });
            };
            let mark = self.mark();
            for resident in &victims {
                self.take(resident.leaf, resident.candidate.clone(), errand);
            }
            self.place(node, shape);
            if !errand.within_target || self.place_elsewhere(node, &victims) {
                return Ok(());
            }
            // What is moved has to have somewhere to go.
            self.undo(mark);
            tried.push(node);
            if tried.len() >= MOST_NODES_TRIED {
                return Err(Reason::Fragmented);
            }
        }
    }

    /// Places the pods that make room on `node` on others, all of them together.
    fn place_elsewhere(&mut self, node: At, victims: &[Resident<'a>]) -> bool {
        let pods: Vec<&'a Pod> =
            victims.iter().flat_map(|one| one.candidate.everything().collect::<Vec<_>>()).collect();
        pods.into_iter().all(|pod| {
            let other = self.rooms.as_mut().and_then(|rooms| rooms.free_beside(&pod.shape, node));
            other.map(|other| self.place(other, &pod.shape)).is_some()
        })
    }

    fn cheapest(
        &mut self,
        shape: &'a Shape,
        errand: &Errand,
        tried: &[At],
    ) -> Option<(At, Vec<Resident<'a>>)> {
        let rooms = self.rooms.take()?;
        let known = if errand.within_target { self.search_everywhere.take() } else { self.search.take() };
        let mut search = known.unwrap_or_else(|| self.search(&rooms, errand.within_target));
        let group = Group {
            inside: errand.inside,
            within_target: errand.within_target.then_some(errand.taker).flatten(),
            priority: errand.priority,
        };
        let mut asked = Asked { rooms: &rooms, shape, errand, simulation: self };
        let found = search.cheapest(group, tried, &mut asked);
        self.rooms = Some(rooms);
        let known = if errand.within_target { &mut self.search_everywhere } else { &mut self.search };
        *known = Some(search);
        found
    }

    /// The candidates, by node: of the leaves above their targets, or of every leaf.
    fn search(&self, rooms: &Rooms<'a>, everywhere: bool) -> Search<'a> {
        let gives = |at: &Index| everywhere || self.over.get(*at).is_some_and(|over| !over.is_empty());
        let leaves = self.case.leaves().filter(|(at, party)| gives(at) && !party.spared);
        let candidates = leaves.flat_map(|(at, party)| {
            party.leaf.candidates(self.case.snapshot).may_go.iter().map(move |candidate| (at, candidate))
        });
        Search::new(rooms, candidates)
    }

    /// What is still lacking of `amounts` where `inside` is the branch that bounds it; none for the cluster.
    pub(super) fn short(&self, inside: Option<Index>, amounts: &Amounts) -> Amounts {
        let nothing = Amounts::new();
        let left = inside.map_or(Some(&self.free), |at| self.slack.get(at)).unwrap_or(&nothing);
        let bounded = inside.and_then(|at| self.case.tree.branches.get(at)).map(|branch| &branch.queue.limit);
        let asked = amounts.resources().filter(|one| bounded.is_none_or(|bounds| bounds.get(one).is_some()));
        asked.map(|one| (one.clone(), Amount::ZERO.less(left.get(one)))).collect()
    }
}

/// A pod that asks for a place.
struct Asked<'s, 'a> {
    rooms: &'s Rooms<'a>,
    shape: &'a Shape,
    errand: &'s Errand,
    simulation: &'s mut Simulation<'a>,
}

impl<'a> Question<'a> for Asked<'_, 'a> {
    fn rooms(&self) -> &Rooms<'a> {
        self.rooms
    }

    fn shape(&self) -> &'a Shape {
        self.shape
    }

    fn scale(&self) -> &'a Amounts {
        self.simulation.case.capacity
    }

    fn may_go(&mut self, node: At, victims: &[Resident<'a>]) -> Vec<bool> {
        let shortfall = self.rooms.shortfall(node, self.shape).unwrap_or_default();
        let reclaimed = shortfall.of(self.simulation.case.resources);
        self.simulation.may_go(victims, &reclaimed, self.errand)
    }

    fn level(&self, leaf: Index) -> Level {
        self.simulation.level(leaf)
    }
}

/// How many nodes are tried for an ask whose victims have to be placed elsewhere.
const MOST_NODES_TRIED: usize = 16;
