//! Freeing a node: the cheapest victims whose room a pod fits in.

use super::Placing;
use crate::amounts::Amounts;
use crate::reason::Reason;
use crate::reclaim::asks::governed;
use crate::reclaim::books::Books;
use crate::reclaim::candidate::Candidate;
use crate::reclaim::nodes::{At, Group, Resident, Rooms, Search};
use crate::reclaim::take::Case;
use crate::reclaim::victim::Victim;
use crate::snapshot::{Pod, Shape, VictimPriority};
use crate::tree::Index;

/// For whom a node is freed, and of whom.
pub(in crate::reclaim) struct Errand<'e> {
    /// The leaf that asks.
    pub(in crate::reclaim) asker: Index,
    pub(in crate::reclaim) reason: Reason,
    /// Its priority.
    pub(in crate::reclaim) priority: i32,
    /// Names the group of leaves that may give.
    pub(in crate::reclaim) givers: usize,
    /// Whether pods go that their own queues may have.
    pub(in crate::reclaim) within_share: bool,
    /// What keeps a pod from going for this.
    pub(in crate::reclaim) forbids: &'e dyn Fn(Index, &Pod) -> Option<Reason>,
}

impl<'a> Placing<'a> {
    /// Evicts the pods of the node that is the cheapest to free for a pod of `shape`, and takes the room. Says what
    /// others gain, or why no node can be freed.
    pub(in crate::reclaim) fn free_a_node(
        &mut self,
        case: &Case<'a>,
        shape: &'a Shape,
        errand: &Errand<'_>,
        books: &mut Books<'a>,
    ) -> Result<Amounts, Reason> {
        let known = if errand.within_share { &mut self.search_within_shares } else { &mut self.search };
        let search = match known.take() {
            Some(search) => search,
            None => search_everywhere(case, &self.rooms, books, errand.within_share),
        };
        let search = known.insert(search);
        let requests = governed(&shape.requests, &case.resources);
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let group = Group {
            givers: errand.givers,
            within_share: errand.within_share.then_some(errand.asker),
            priority: (limited || errand.within_share).then_some(errand.priority),
        };
        let found = search.cheapest(&self.rooms, shape, group, case.capacity, &mut |victims| {
            books.may_go(victims, &requests, errand.within_share, errand.forbids)
        });
        let Some((node, victims)) = found else {
            let possible = self.rooms.could_run(shape);
            return Err(if possible { Reason::Fragmented } else { Reason::NoNodeFits });
        };
        let mut freed = Amounts::new();
        for resident in &victims {
            freed.add_all(&self.evict(case, node, resident, errand, books));
        }
        self.freed_nodes = self.freed_nodes.saturating_add(1);
        self.rooms.take(node, &shape.requests);
        self.rooms.promise(node, shape);
        Ok(freed)
    }

    /// Evicts `resident`, with its gang if it is one, and gives the room to the nodes.
    fn evict(
        &mut self,
        case: &Case<'a>,
        node: At,
        resident: &Resident<'a>,
        errand: &Errand<'_>,
        books: &mut Books<'a>,
    ) -> Amounts {
        let at = resident.leaf;
        let mut freed = Amounts::new();
        let Some(party) = case.party(at) else { return freed };
        let mut all = vec![resident.candidate.clone()];
        let followers = resident.candidate.followers().iter();
        let followers = followers.filter(|pod| !books.chosen.contains(&pod.uid));
        all.extend(followers.map(|pod| Candidate::surplus(pod)));
        // The same for all that go together: the last ones may be more than what the queue holds too much.
        let lowered = case.resources.iter().copied().filter(|one| party.overuse(one).is_positive());
        let in_force = errand.reason == Reason::MovedAside || party.is_fenced(lowered);
        for candidate in all {
            freed.add_all(&books.take(at, &candidate));
            for pod in candidate.pods() {
                if let Some(at) = pod.node.as_ref().and_then(|node| self.rooms.find(node)) {
                    self.rooms.give(at, pod.requests());
                    for search in self.search.iter_mut().chain(&mut self.search_within_shares) {
                        search.freed(at, pod);
                    }
                }
            }
            books.victims.push(Victim {
                at,
                candidate,
                beneficiary: Some(errand.asker),
                reason: errand.reason,
                in_force,
                makes_room: Some(node),
            });
        }
        freed
    }
}

/// The candidates, by node: of the leaves that hold more than their share, or `within_shares` of every leaf.
fn search_everywhere<'a>(
    case: &Case<'a>,
    rooms: &Rooms<'a>,
    books: &mut Books<'a>,
    within_shares: bool,
) -> Search<'a> {
    let mut candidates = Vec::new();
    for (at, party) in case.parties.iter().enumerate() {
        let gives = within_shares || books.balance.overuse.get(at).is_some_and(|over| !over.is_empty());
        if !gives || party.is_none_or(|party| party.spared) {
            continue;
        }
        if let Some(source) = books.source(at) {
            candidates.extend(source.candidates.may_go.iter().map(|candidate| (at, candidate.clone())));
        }
    }
    Search::new(rooms, candidates.iter().map(|(at, candidate)| (*at, candidate)))
}
