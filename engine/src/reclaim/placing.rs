//! Placing: room on nodes for the asks that are known, and the victims that make it.

use std::collections::BTreeMap;

use super::Party;
use super::asks::{self, Ask, governed, times, whole};
use super::books::Books;
use super::candidate::Candidate;
use super::nodes::{At, Group, Resident, Rooms, Search};
use super::outcome::Taken;
use super::scope::Scope;
use super::sources::sources;
use super::take::{Case, Shortage};
use super::victim::Victim;
use crate::amounts::{Amounts, Resource};
use crate::census::Census;
use crate::plan::Unmet;
use crate::reason::Reason;
use crate::snapshot::{Pod, Shape, VictimPriority};
use crate::tree::Index;

/// How many pods a plan looks for nodes for; the room of what is asked for beyond is taken anywhere. One owner may ask for
/// two thousand million.
const MOST_PLACED: u32 = 20_000;

/// How many gangs a plan tries victims for: each try may have to be undone as a whole.
const MOST_GANGS: u32 = 100;

/// The asks of one leaf, and how much of its share they may still use.
#[derive(Clone)]
struct Waiting<'a> {
    asks: Vec<(Ask<'a>, Option<Reason>)>,
    entitled: Amounts,
}

/// A pod that exists, that the scheduler finds no node for and that the model finds none for either.
#[derive(Clone)]
pub(super) struct Stuck<'a> {
    pub(super) leaf: Index,
    pub(super) pod: &'a Pod,
}

/// Where known asks find room.
#[derive(Clone)]
pub(super) struct Placing<'a> {
    pub(super) rooms: Rooms<'a>,
    search: Option<Search<'a>>,
    waiting: BTreeMap<Index, Waiting<'a>>,
    pub(super) stuck: Vec<Stuck<'a>>,
    /// What each leaf is promised for asks that no room can be made for.
    given_up: BTreeMap<Index, Amounts>,
    /// What was served in this scope.
    served: Vec<ServedAsk>,
    /// For how many pods a node was freed.
    freed_nodes: u32,
    /// How many more pods are looked at.
    pods_left: u32,
    /// How many more gangs are tried.
    gangs_left: u32,
}

/// What came of one ask in one scope.
#[derive(Clone)]
struct ServedAsk {
    at: Index,
    /// Which of the leaf's asks.
    number: usize,
    /// For how many of its pods there is room.
    pods: u32,
    /// For how many of these a node was freed.
    freed: u32,
    /// What each of them requests.
    each: Amounts,
}

/// What one scope has to give, while its asks are served.
struct Round<'r> {
    scope: Scope,
    /// What pods have to go for.
    need: &'r mut Amounts,
    /// What turned out not to be needed: no room can be made for it.
    waived: Amounts,
}

/// For whom a node is freed, and of whom.
pub(super) struct Errand<'e> {
    /// The leaf that asks.
    pub(super) asker: Index,
    pub(super) reason: Reason,
    /// Its priority.
    pub(super) priority: i32,
    /// Names the group of leaves that may give.
    pub(super) givers: usize,
    /// Whether pods go that their own queues may have.
    pub(super) within_share: bool,
    /// What keeps a pod from going for this.
    pub(super) forbids: &'e dyn Fn(Index, &Pod) -> Option<Reason>,
}

impl<'a> Placing<'a> {
    /// Collects the asks; none if there are none, which is the usual case.
    pub(super) fn new(case: &Case<'a>, census: &Census<'a>) -> Option<Self> {
        let mut waiting = BTreeMap::new();
        for (at, party) in case.parties.iter().enumerate() {
            let Some(party) = party else { continue };
            if case.resources.iter().all(|resource| party.promised(resource).is_zero()) {
                continue;
            }
            let asks = asks::refused(party);
            if !asks.is_empty() {
                let staying = party.headcount.charged.less(&party.headcount.leaving);
                let asks = asks.into_iter().map(|ask| (ask, None)).collect();
                waiting.insert(at, Waiting { asks, entitled: party.deserved.less(&staying) });
            }
        }
        let unbound = asks::unbound(case.snapshot);
        if waiting.is_empty() && unbound.iter().all(|(_, pod)| pod.stuck.is_none()) {
            return None;
        }
        let mut rooms = Rooms::of(case.snapshot, census);
        let mut stuck = Vec::new();
        for (namespace, pod) in unbound {
            let leaf = case.tree.leaves.get(namespace);
            let party = leaf.and_then(|leaf| case.party(*leaf));
            // Pods of a queue above its share are the first to go: they keep no room.
            let goes =
                |party: &Party<'_>| pod.requests().resources().any(|one| party.overuse(one).is_positive());
            if party.is_some_and(goes) {
                continue;
            }
            let found = rooms.reserve(&pod.shape);
            if let (None, Some(_), Some(leaf)) = (found, pod.stuck, leaf) {
                stuck.push(Stuck { leaf: *leaf, pod });
            }
        }
        let (pods_left, gangs_left) = (MOST_PLACED, MOST_GANGS);
        let mut placing = Self {
            rooms,
            search: None,
            waiting,
            stuck,
            given_up: BTreeMap::new(),
            served: Vec::new(),
            freed_nodes: 0,
            pods_left,
            gangs_left,
        };
        placing.give_up_the_impossible(case);
        Some(placing)
    }

    /// What of the leaf's promise would serve only asks that no room can be made for.
    pub(super) fn given_up(&self, at: Index) -> Amounts {
        self.given_up.get(&at).cloned().unwrap_or_default()
    }

    /// Gives up asks that no node could run even if it were empty, before room is handed to anybody.
    fn give_up_the_impossible(&mut self, case: &Case<'a>) {
        for (at, waiting) in &mut self.waiting {
            let Some(party) = case.party(*at) else { continue };
            for (ask, failed) in &mut waiting.asks {
                if self.rooms.could_run(ask.shape) {
                    continue;
                }
                *failed = Some(Reason::NoNodeFits);
                let given_up = self.given_up.entry(*at).or_default();
                let promised = promised(case, party).less(given_up);
                let each = governed(&ask.shape.requests, &case.resources);
                let rest = whole(&each, ask.pods, &waiting.entitled);
                waiting.entitled = waiting.entitled.less(&rest);
                given_up.add_all(&rest.min(&promised));
            }
        }
    }

    /// Finds room for the asks of the leaves that are short and take from `scope`, with victims where `need` says that
    /// pods have to go anyway. What no room can be made for is taken off `need`, and returned; with it the highest
    /// priority among the asks, if priorities are compared and everybody who is short asks for pods.
    pub(super) fn serve(
        &mut self,
        case: &Case<'a>,
        scope: Scope,
        shortages: &mut [Shortage],
        need: &mut Amounts,
        books: &mut Books<'a>,
    ) -> (Amounts, Option<i32>) {
        let mut round = Round { scope, need, waived: Amounts::new() };
        let compared = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let mut highest = compared.then_some(i32::MIN);
        self.served.clear();
        for shortage in shortages {
            let Some(mut waiting) = self.waiting.remove(&shortage.at) else {
                highest = None;
                continue;
            };
            for (number, (ask, failed)) in waiting.asks.iter_mut().enumerate() {
                highest = highest.map(|highest| highest.max(ask.priority));
                if failed.is_none() {
                    let (before, freed) = (ask.pods, self.freed_nodes);
                    *failed = self.serve_one(case, &mut round, ask, &mut waiting.entitled, shortage, books);
                    self.served.push(ServedAsk {
                        at: shortage.at,
                        number,
                        pods: before.saturating_sub(ask.pods),
                        freed: self.freed_nodes.saturating_sub(freed),
                        each: governed(&ask.shape.requests, &case.resources),
                    });
                }
            }
            self.waiting.insert(shortage.at, waiting);
        }
        (round.waived, highest)
    }

    /// Whether one of those who are short asks for pods.
    pub(super) fn asks_among(&self, shortages: &[Shortage]) -> bool {
        shortages.iter().any(|shortage| self.waiting.contains_key(&shortage.at))
    }

    /// What asks that were served in this scope still lack, when `need` could not be had: claims that nobody uses go
    /// without before they do.
    pub(super) fn uncovered(&self, promised: &Amounts, waived: &Amounts, need: &Amounts) -> Amounts {
        let mut asked = Amounts::new();
        for served in &self.served {
            asked.add_all(&times(&served.each, i128::from(served.pods)));
        }
        need.less(&promised.less(waived).less(&asked)).min(&asked)
    }

    /// Gives up, of the asks that `tried` served last, as many pods as cover `lacking`; all that were served if there is
    /// no telling. Those that nodes were freed for go first: the others cost nobody a node. Says whether any was given up.
    pub(super) fn give_up_last(
        &mut self,
        case: &Case<'a>,
        tried: &Self,
        lacking: Option<&Amounts>,
        reason: Reason,
    ) -> bool {
        let mut left = lacking.cloned().unwrap_or_default();
        let mut any = false;
        let with_nodes = |served: &&ServedAsk| served.freed > 0 && served.each.overlaps(&left);
        let nodes_first = lacking.is_some() && tried.served.iter().any(|served| with_nodes(&served));
        for ServedAsk { at, number, pods, freed, each } in tried.served.iter().rev() {
            let pods = if nodes_first { freed } else { pods };
            if *pods == 0 || (lacking.is_some() && !each.overlaps(&left)) {
                continue;
            }
            let Some(waiting) = self.waiting.get_mut(at) else { continue };
            let Some((ask, failed)) = waiting.asks.get_mut(*number) else { continue };
            // As many as it takes; what is asked for together is given up together.
            let mut given_up = 0u32;
            let most = if ask.together > 1 { ask.pods } else { *pods };
            while given_up < most && (lacking.is_none() || ask.together > 1 || each.overlaps(&left)) {
                given_up = given_up.saturating_add(1);
                left = left.less(each);
            }
            let rest = times(each, i128::from(given_up));
            waiting.entitled = waiting.entitled.less(&rest);
            if let Some(party) = case.party(*at) {
                let known = self.given_up.entry(*at).or_default();
                let promised = promised(case, party).less(known);
                known.add_all(&rest.min(&promised));
            }
            if given_up >= ask.pods {
                *failed = Some(reason);
            } else {
                // The first ones are tried again; the last are told as unmet with the rest.
                ask.pods = ask.pods.saturating_sub(given_up);
            }
            any |= given_up > 0;
        }
        any
    }

    /// Finds room for the pods of one ask, one after the other; says what stands in the way of the rest.
    fn serve_one(
        &mut self,
        case: &Case<'a>,
        round: &mut Round<'_>,
        ask: &mut Ask<'a>,
        entitled: &mut Amounts,
        shortage: &mut Shortage,
        books: &mut Books<'a>,
    ) -> Option<Reason> {
        let each = governed(&ask.shape.requests, &case.resources);
        while ask.pods > 0 && self.pods_left > 0 {
            let together = ask.together.clamp(1, ask.pods);
            let all = times(&each, i128::from(together));
            if !all.fits_in(entitled) {
                return Some(Reason::UnitAboveShare);
            }
            if !each.overlaps(round.need) {
                return None;
            }
            match self.make_room_together(case, round, ask, together, shortage, books) {
                Ok(()) => {
                    ask.pods = ask.pods.saturating_sub(together);
                    ask.together = 1;
                    *entitled = entitled.less(&all);
                }
                Err(reason) => {
                    // As much as they are entitled to is not needed; it would free room for nobody.
                    let rest = whole(&each, ask.pods, entitled);
                    *entitled = entitled.less(&rest);
                    let promised = rest.min(&shortage.missing);
                    round.waived.add_all(&promised.min(round.need));
                    *round.need = round.need.less(&promised);
                    self.given_up.entry(shortage.at).or_default().add_all(&promised);
                    shortage.missing = shortage.missing.less(&promised);
                    if reason == Reason::NoNodeFits {
                        return Some(reason);
                    }
                    for at in sources(case.parties, &books.balance, &case.resources, case.capacity) {
                        if round.scope.contains(case.tree, at) {
                            books.keep_never_taken(at, &each);
                        }
                    }
                    return Some(case.what_keeps(round.scope, books).unwrap_or(reason));
                }
            }
        }
        None
    }

    /// Room for as many pods of `ask` as are of use only together, or nothing.
    fn make_room_together(
        &mut self,
        case: &Case<'a>,
        round: &mut Round<'_>,
        ask: &Ask<'a>,
        together: u32,
        shortage: &mut Shortage,
        books: &mut Books<'a>,
    ) -> Result<(), Reason> {
        self.pods_left = self.pods_left.saturating_sub(together);
        if together == 1 {
            return self.make_room(case, round, ask, shortage, books);
        }
        self.gangs_left = self.gangs_left.checked_sub(1).ok_or(Reason::NothingToEvict)?;
        let before = (
            self.rooms.clone(),
            self.search.clone(),
            books.clone(),
            round.need.clone(),
            shortage.missing.clone(),
        );
        for _ in 0..together {
            if let Err(reason) = self.make_room(case, round, ask, shortage, books) {
                let kept = std::mem::take(&mut books.kept);
                (self.rooms, self.search, *books, *round.need, shortage.missing) = before;
                books.kept = kept;
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Room for one pod of `ask`: what is there, or what the cheapest victims leave.
    fn make_room(
        &mut self,
        case: &Case<'a>,
        round: &mut Round<'_>,
        ask: &Ask<'a>,
        shortage: &mut Shortage,
        books: &mut Books<'a>,
    ) -> Result<(), Reason> {
        let scope = round.scope;
        if let Some(at) = self.rooms.reserve(ask.shape) {
            self.rooms.promise(at, ask.shape);
            return Ok(());
        }
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let asker = shortage.at;
        let forbids = |at: Index, pod: &Pod| {
            if at == asker || !scope.contains(case.tree, at) {
                Some(Reason::Fenced)
            } else if !case.snapshot.frees_room(pod) {
                Some(Reason::NodeNotCounted)
            } else {
                (limited && pod.priority > ask.priority).then_some(Reason::PriorityAboveAsk)
            }
        };
        let errand = Errand {
            asker,
            priority: ask.priority,
            reason: Reason::Reclaimed,
            givers: scope.top().unwrap_or(usize::MAX),
            within_share: false,
            forbids: &forbids,
        };
        let freed = self.free_a_node(case, ask.shape, &errand, books)?;
        *round.need = round.need.less(&freed);
        shortage.missing = shortage.missing.less(&freed);
        Ok(())
    }

    /// Evicts the pods of the node that is the cheapest to free for a pod of `shape`, and takes the room. Says what
    /// others gain, or why no node can be freed.
    pub(super) fn free_a_node(
        &mut self,
        case: &Case<'a>,
        shape: &'a Shape,
        errand: &Errand<'_>,
        books: &mut Books<'a>,
    ) -> Result<Amounts, Reason> {
        let search = match self.search.take() {
            Some(search) => search,
            None => search_everywhere(case, &self.rooms, books),
        };
        let search = self.search.insert(search);
        let requests = governed(&shape.requests, &case.resources);
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let group = Group {
            givers: errand.givers,
            within_share: errand.within_share.then_some(errand.asker),
            priority: limited.then_some(errand.priority),
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
        for candidate in all {
            let over = books.balance.overuse.get(at).cloned().unwrap_or_default();
            freed.add_all(&books.take(at, &candidate));
            for pod in candidate.pods() {
                if let Some(at) = pod.node.as_ref().and_then(|node| self.rooms.find(node)) {
                    self.rooms.give(at, pod.requests());
                    if let Some(search) = &mut self.search {
                        search.freed(at, pod);
                    }
                }
            }
            let lowered: Vec<&Resource> = over.resources().collect();
            books.victims.push(Victim {
                at,
                candidate,
                beneficiary: Some(errand.asker),
                reason: errand.reason,
                in_force: errand.reason == Reason::MovedAside || party.is_fenced(lowered),
                makes_room: Some(node),
            });
        }
        freed
    }

    /// Says which asks are unmet, and why.
    pub(super) fn tell_unmet(&self, taken: &mut Taken) {
        for (at, waiting) in &self.waiting {
            for (ask, failed) in &waiting.asks {
                let Some(reason) = failed.filter(|_| ask.pods > 0) else { continue };
                if reason != Reason::UnitAboveShare && !taken.obstacles.contains_key(at) {
                    taken.obstacles.insert(*at, reason);
                }
                taken.unmet.entry(*at).or_default().push(Unmet {
                    who: ask.who.clone(),
                    pods: ask.pods,
                    requests: ask.shape.requests.clone(),
                    reason,
                });
            }
        }
    }
}

/// What the party is promised, of everything that there is.
fn promised(case: &Case<'_>, party: &Party<'_>) -> Amounts {
    case.resources.iter().map(|resource| ((*resource).clone(), party.promised(resource))).collect()
}

/// The candidates of every leaf, by node.
fn search_everywhere<'a>(case: &Case<'a>, rooms: &Rooms<'a>, books: &mut Books<'a>) -> Search<'a> {
    let mut candidates = Vec::new();
    for (at, party) in case.parties.iter().enumerate() {
        if party.is_none_or(|party| party.spared) {
            continue;
        }
        if let Some(source) = books.source(at) {
            candidates.extend(source.candidates.may_go.iter().map(|candidate| (at, candidate.clone())));
        }
    }
    Search::new(rooms, candidates.iter().map(|(at, candidate)| (*at, candidate)))
}
