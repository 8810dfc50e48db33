//! Placing: room on nodes for the asks that are known, and the victims that make it.

mod free;
mod give_up;
mod serve;

use std::collections::BTreeMap;

pub(super) use free::Errand;
use give_up::ServedAsk;

use super::Party;
use super::asks::{self, Ask};
use super::nodes::{Rooms, Search};
use super::outcome::Taken;
use super::take::{Case, Shortage};
use crate::amounts::Amounts;
use crate::plan::Unmet;
use crate::reason::Reason;
use crate::snapshot::Pod;
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
    /// Where pods of queues above their share are, and where pods of any queue are.
    search: Option<Search<'a>>,
    search_within_shares: Option<Search<'a>>,
    waiting: BTreeMap<Index, Waiting<'a>>,
    pub(super) stuck: Vec<Stuck<'a>>,
    /// What each leaf is promised for asks that no room can be made for.
    given_up: BTreeMap<Index, Amounts>,
    /// What stood in the way of pods that were given up although there was a node for them.
    kept_from: BTreeMap<Index, Reason>,
    /// What was served in this scope.
    served: Vec<ServedAsk>,
    /// For how many pods a node was freed.
    freed_nodes: u32,
    /// How many more pods are looked at.
    pods_left: u32,
    /// How many more gangs are tried.
    gangs_left: u32,
}

impl<'a> Placing<'a> {
    /// Collects the asks; none if there are none, which is the usual case.
    pub(super) fn new(case: &Case<'a>) -> Option<Self> {
        let mut waiting = BTreeMap::new();
        for (at, party) in case.parties.iter().enumerate() {
            let Some(party) = party else { continue };
            if case.resources.iter().all(|resource| party.promised(resource).is_zero()) {
                continue;
            }
            let asks = asks::refused(party);
            if !asks.is_empty() {
                let staying = party.headcount.all_staying();
                let asks = asks.into_iter().map(|ask| (ask, None)).collect();
                waiting.insert(at, Waiting { asks, entitled: party.deserved.less(&staying) });
            }
        }
        let unbound = asks::unbound(case.snapshot);
        if waiting.is_empty() && unbound.iter().all(|(_, pod)| pod.stuck.is_none()) {
            return None;
        }
        let mut rooms = Rooms::of(case.snapshot, case.census);
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
            search_within_shares: None,
            waiting,
            stuck,
            given_up: BTreeMap::new(),
            kept_from: BTreeMap::new(),
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

    /// Whether one of those who are short asks for pods.
    pub(super) fn asks_among(&self, shortages: &[Shortage]) -> bool {
        shortages.iter().any(|shortage| self.waiting.contains_key(&shortage.at))
    }

    /// Says which asks are unmet, and why.
    pub(super) fn tell_unmet(&self, taken: &mut Taken) {
        for (at, reason) in &self.kept_from {
            taken.obstacles.entry(*at).or_insert(*reason);
        }
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
                    controller: None,
                    lowered: None,
                    rejection: None,
                    left_out: ask.shape.left_out.clone(),
                });
            }
        }
    }
}

/// What the party is promised, of everything that there is.
fn promised(case: &Case<'_>, party: &Party<'_>) -> Amounts {
    case.resources.iter().map(|resource| ((*resource).clone(), party.promised(resource))).collect()
}
