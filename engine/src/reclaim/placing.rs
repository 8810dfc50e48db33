//! Placing: room on nodes for the asks that are known, and the victims that make it.

use std::collections::BTreeMap;

use super::asks::{self, Ask};
use super::books::Books;
use super::candidate::Candidate;
use super::nodes::{Resident, Rooms, Search};
use super::outcome::Taken;
use super::scope::Scope;
use super::sources::sources;
use super::take::{Case, Shortage};
use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Census;
use crate::names::QueueName;
use crate::plan::{Asker, Unmet};
use crate::reason::Reason;
use crate::snapshot::{Pod, Shape, VictimPriority};
use crate::tree::Index;

/// How long pods may wait for an autoscaler's nodes before others go for them.
const WAITS_FOR_NODES: i64 = 600_000;

/// How many pods a plan looks for nodes for; the room of what is asked for beyond is taken anywhere. One owner may ask for
/// two thousand million.
const MOST_PLACED: u32 = 20_000;

/// The asks of one leaf, and how much of its share they may still use.
struct Waiting<'a> {
    asks: Vec<(Ask<'a>, Option<Reason>)>,
    entitled: Amounts,
}

/// A pod that exists, that the scheduler finds no node for and that the model finds none for either.
struct Stuck<'a> {
    leaf: Index,
    pod: &'a Pod,
}

/// Where known asks find room.
pub(super) struct Placing<'a> {
    rooms: Rooms<'a>,
    search: Option<Search<'a>>,
    waiting: BTreeMap<Index, Waiting<'a>>,
    stuck: Vec<Stuck<'a>>,
    /// How many more pods are looked at.
    left: u32,
}

/// What a pod of an ask came to.
enum Met {
    /// There is room, or victims make it.
    Yes,
    /// Nothing can be done, and why.
    No(Reason),
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
            let asks = asks::refused(party.state, &party.queue.remembered);
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
            let found = rooms.reserve(&pod.shape);
            let leaf = case.tree.leaves.get(namespace);
            if let (None, Some(_), Some(leaf)) = (found, pod.stuck, leaf) {
                stuck.push(Stuck { leaf: *leaf, pod });
            }
        }
        Some(Self { rooms, search: None, waiting, stuck, left: MOST_PLACED })
    }

    /// Finds room for the asks of the leaves that are short and take from `scope`, with victims where `need` says that
    /// pods have to go anyway. What no room can be made for is not needed.
    pub(super) fn serve(
        &mut self,
        case: &Case<'a>,
        scope: Scope,
        shortages: &mut [Shortage<'_>],
        need: &mut Amounts,
        books: &mut Books<'a>,
        taken: &mut Taken,
    ) {
        if need.is_empty() {
            return;
        }
        let mut coverable: Option<Amounts> = None;
        for shortage in shortages {
            let Some(mut waiting) = self.waiting.remove(&shortage.at) else { continue };
            for (ask, failed) in &mut waiting.asks {
                while ask.pods > 0 && self.left > 0 {
                    self.left = self.left.saturating_sub(1);
                    let governed = governed(&ask.shape.requests, case);
                    if !governed.fits_in(&waiting.entitled) {
                        *failed = Some(Reason::UnitAboveShare);
                        break;
                    }
                    if !governed.overlaps(need) {
                        break;
                    }
                    let coverable = coverable.get_or_insert_with(|| coverable_in(case, scope, books));
                    let met = if covers(coverable, need, &governed) {
                        self.make_room(case, scope, ask, shortage, need, books, coverable, taken)
                    } else {
                        Met::No(Reason::NothingToEvict)
                    };
                    match met {
                        Met::Yes => {
                            ask.pods = ask.pods.saturating_sub(1);
                            waiting.entitled = waiting.entitled.less(&governed);
                        }
                        Met::No(reason) => {
                            *failed = Some(reason);
                            // As much as they are entitled to is not needed; it would free room for nobody.
                            let all = whole(&governed, ask.pods, &waiting.entitled);
                            waiting.entitled = waiting.entitled.less(&all);
                            *need = need.less(&all);
                            shortage.missing = shortage.missing.less(&all);
                            break;
                        }
                    }
                }
            }
            self.waiting.insert(shortage.at, waiting);
        }
    }

    /// Room for one pod of `ask`: what is there, or what the cheapest victims leave.
    #[expect(clippy::too_many_arguments, reason = "what changes while one ask is served")]
    fn make_room(
        &mut self,
        case: &Case<'a>,
        scope: Scope,
        ask: &Ask<'a>,
        shortage: &mut Shortage<'_>,
        need: &mut Amounts,
        books: &mut Books<'a>,
        coverable: &mut Amounts,
        taken: &mut Taken,
    ) -> Met {
        if self.rooms.reserve(ask.shape).is_some() {
            return Met::Yes;
        }
        let givers = match scope {
            Scope::Limit(at) | Scope::Fence(at) => at,
            Scope::Cluster => usize::MAX,
        };
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let asker = shortage.at;
        let allowed = |at: Index, pod: &Pod| {
            at != asker
                && scope.contains(case.tree, at)
                && case.snapshot.frees_room(pod)
                && !(limited && pod.priority > ask.priority)
        };
        let Some((node, victims)) = self.cheapest(case, ask.shape, (givers, false), books, &allowed) else {
            return Met::No(self.why_not(ask.shape));
        };
        for resident in &victims {
            let freed = self.evict(case, resident, books, Some(shortage.name), Reason::Reclaimed, taken);
            *need = need.less(&freed);
            *coverable = coverable.less(&freed);
            shortage.missing = shortage.missing.less(&freed);
        }
        self.rooms.take(node, &ask.shape.requests);
        Met::Yes
    }

    fn cheapest(
        &mut self,
        case: &Case<'a>,
        shape: &Shape,
        (givers, within_share): (usize, bool),
        books: &mut Books<'a>,
        allowed: &dyn Fn(Index, &Pod) -> bool,
    ) -> Option<(usize, Vec<Resident<'a>>)> {
        let search = match self.search.take() {
            Some(search) => search,
            None => search_everywhere(case, &self.rooms, books),
        };
        let search = self.search.insert(search);
        let requests = governed(&shape.requests, case);
        let group = givers.wrapping_mul(2).wrapping_add(usize::from(within_share));
        search.cheapest(&self.rooms, shape, group, &mut |victims| {
            books.may_go(victims, &requests, within_share, allowed)
        })
    }

    /// Evicts `resident`, with its gang if it is one, and gives the room to the nodes.
    fn evict(
        &mut self,
        case: &Case<'a>,
        resident: &Resident<'a>,
        books: &mut Books<'a>,
        beneficiary: Option<&QueueName>,
        reason: Reason,
        taken: &mut Taken,
    ) -> Amounts {
        let Some(party) = case.party(resident.leaf) else { return Amounts::new() };
        let mut all = vec![resident.candidate.clone()];
        if let Some(gang) = &resident.candidate.gang {
            let surplus = gang.surplus.iter().filter(|pod| !books.chosen.contains(&pod.uid));
            all.extend(surplus.map(|pod| Candidate::surplus(pod)));
        }
        let mut freed = Amounts::new();
        for victim in &all {
            let over = books.balance.overuse.get(resident.leaf).cloned().unwrap_or_default();
            freed.add_all(&books.take(resident.leaf, victim));
            for pod in victim.pods() {
                if let Some(at) = pod.node.as_ref().and_then(|node| self.rooms.find(node)) {
                    self.rooms.give(at, pod.requests());
                    if let Some(search) = &mut self.search {
                        search.freed(at, pod);
                    }
                }
            }
            let lowered: Vec<&Resource> = over.resources().collect();
            let in_force = reason == Reason::MovedAside || party.is_fenced(lowered);
            taken.evict(party, victim, beneficiary, reason, in_force);
        }
        freed
    }

    fn why_not(&self, shape: &Shape) -> Reason {
        if self.rooms.could_run(shape) { Reason::Fragmented } else { Reason::NoNodeFits }
    }

    /// Makes way for pods that exist, that are within their queue's share and that no node has room for.
    ///
    /// Pods of queues above their share go for each of them; for one within what its queue is *guaranteed* also pods of
    /// queues within theirs, above what these are guaranteed: their quota stays, so they start again elsewhere. A pod
    /// that waits longer than its demand counts is not tried any more, so the tries end.
    pub(super) fn make_way_for_stuck(&mut self, case: &Case<'a>, books: &mut Books<'a>, taken: &mut Taken) {
        for stuck in std::mem::take(&mut self.stuck) {
            if let Some(reason) = self.make_way(case, &stuck, books, taken) {
                taken.unmet.entry(stuck.leaf).or_default().push(Unmet {
                    who: Asker::Pod(stuck.pod.name.clone()),
                    pods: 1,
                    requests: stuck.pod.requests().clone(),
                    reason,
                });
            }
        }
    }

    /// Makes way for one pod; says why if that cannot be.
    fn make_way(
        &mut self,
        case: &Case<'a>,
        stuck: &Stuck<'a>,
        books: &mut Books<'a>,
        taken: &mut Taken,
    ) -> Option<Reason> {
        let party = case.party(stuck.leaf)?;
        let pod = stuck.pod;
        if self.rooms.reserve(&pod.shape).is_some() {
            return None;
        }
        if !self.rooms.could_run(&pod.shape) {
            return Some(Reason::NoNodeFits);
        }
        let waited = case.snapshot.now.millis_since(pod.stuck.unwrap_or(case.snapshot.now));
        let expandable = &case.snapshot.settings.expandable;
        if waited < WAITS_FOR_NODES && pod.requests().fits_in(expandable) {
            return Some(Reason::WaitingForNodes);
        }
        if waited >= 60_000 {
            return Some(Reason::NotTakenUp);
        }
        let staying = party.headcount.charged.less(&party.headcount.leaving);
        let requests = governed(pod.requests(), case);
        let within = |bound: &dyn Fn(&Resource) -> Amount| {
            requests.resources().all(|resource| staying.get(resource) <= bound(resource))
        };
        if !within(&|resource| party.deserved.get(resource)) {
            return Some(Reason::Fragmented);
        }
        let guaranteed = within(&|resource| party.queue.guaranteed.get(resource).unwrap_or_default());
        let fence = case.tree.fence_above(stuck.leaf);
        let limited = case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let asker = stuck.leaf;
        let allowed = |at: Index, victim: &Pod| {
            at != asker
                && fence.is_none_or(|fence| case.tree.path_up(at).any(|(above, _)| above == fence))
                && case.party(at).is_some_and(|party| !party.spared)
                && case.snapshot.frees_room(victim)
                && !(limited && victim.priority > pod.priority)
        };
        let group = fence.unwrap_or(usize::MAX);
        for within_share in [false, true] {
            if within_share && !guaranteed {
                break;
            }
            let found = self.cheapest(case, &pod.shape, (group, within_share), books, &allowed);
            if let Some((node, victims)) = found {
                for resident in &victims {
                    let reason = if within_share { Reason::MovedAside } else { Reason::Reclaimed };
                    self.evict(case, resident, books, Some(party.name), reason, taken);
                }
                self.rooms.take(node, pod.requests());
                return None;
            }
        }
        Some(Reason::Fragmented)
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

/// What is governed and to be had of `requests`.
fn governed(requests: &Amounts, case: &Case<'_>) -> Amounts {
    case.resources.iter().map(|resource| ((*resource).clone(), requests.get(resource))).collect()
}

/// As many times `requests`, at most `pods`, as fit in `room`.
fn whole(requests: &Amounts, pods: u32, room: &Amounts) -> Amounts {
    let fit = requests
        .iter()
        .filter_map(|(resource, amount)| room.get(resource).units().checked_div(amount.units()));
    let times = fit.min().unwrap_or(0).clamp(0, i128::from(pods));
    let multiple = |(resource, amount): (&Resource, Amount)| {
        (resource.clone(), Amount::new(amount.units().saturating_mul(times)))
    };
    requests.iter().map(multiple).collect()
}

/// What all queues of a scope could be made to give, whole pods and budgets considered.
fn coverable_in<'a>(case: &Case<'a>, scope: Scope, books: &mut Books<'a>) -> Amounts {
    let mut all = Amounts::new();
    let kept = std::mem::take(&mut books.kept);
    for at in sources(case.parties, &books.balance, &case.resources, case.capacity) {
        if !scope.contains(case.tree, at) {
            continue;
        }
        let overuse = books.balance.overuse.get(at).cloned().unwrap_or_default();
        let mut given = Amounts::new();
        for victim in books.choose(at, &overuse, false) {
            given.add_all(&victim.all_requests());
        }
        all.add_all(&given.min(&overuse));
    }
    books.kept = kept;
    all
}

/// Whether what can be had covers the part of `requests` that pods have to go for.
fn covers(coverable: &Amounts, need: &Amounts, requests: &Amounts) -> bool {
    requests.iter().all(|(resource, amount)| coverable.get(resource) >= need.get(resource).min(amount))
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
