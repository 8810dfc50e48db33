//! Waiting units get room one after the other: with room that is there, or with room that others leave.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::members::Members;
use super::room::QueueRoom;
use super::rules::{Staying, Yielding};
use super::waiting_units::{Kind, WaitingUnits};
use crate::amounts::Amounts;
use crate::candidates::Candidate;
use crate::choice::{Group, Mark, QueueState, Search, Simulation};
use crate::names::{GangName, PodUid};
use crate::plan::QueuePlan;
use crate::reasons::EvictionReason;
use crate::snapshot::{Pod, Shape};

/// How many pods of one queue a plan looks for victims for; the next plan goes on.
const MOST_SEARCHES: u32 = 64;

/// How many units of one kind a plan keeps room for. One owner may ask for two thousand million.
const MOST_UNITS: u32 = 5_000;

/// One queue while its waiting units get room.
pub(super) struct Pass<'a, 's> {
    pub(super) queue_state: QueueState<'a>,
    pub(super) members: Members<'a>,
    pub(super) simulation: &'s mut Simulation<'a>,
    /// All pods that may be chosen, least protected first.
    candidates: Vec<Candidate<'a>>,
    room: QueueRoom,
    /// What its pods hold at the beginning.
    held: Amounts,
    beginning: Mark,
    /// The waiting units that pods go for, by their numbers.
    pub(super) goes_for: FxHashMap<&'a PodUid, usize>,
    may_take: bool,
    searches: u32,
    /// For how many units of each kind there is or will be room.
    pub(super) met: BTreeMap<usize, u32>,
    /// How many held-back units of each kind have room now.
    pub(super) restored: BTreeMap<usize, u32>,
    /// The kinds of which a unit was not met although others may go for it.
    pub(super) unmet: BTreeSet<usize>,
}

impl<'a, 's> Pass<'a, 's> {
    /// The pods that are `evicted` for other queues go anyway. No other pod goes unless `may_take`.
    pub(super) fn new(
        queue_state: QueueState<'a>,
        decided: &QueuePlan,
        evicted: &FxHashSet<&PodUid>,
        simulation: &'s mut Simulation<'a>,
        may_take: bool,
    ) -> Self {
        let (snapshot, leaf) = (simulation.context.snapshot, queue_state.leaf);
        let members = Members::of(leaf, evicted);
        let candidates = members.candidates(leaf, evicted, snapshot);
        let leaves = |pod: &&Pod| pod.is_charged() && (pod.is_terminating() || evicted.contains(&pod.uid));
        let mut going = leaf.withdrawn();
        leaf.state.pods.iter().filter(leaves).for_each(|pod| going.add_all(pod.requests()));
        for pod in members.all.values().flat_map(|member| &member.going) {
            going.add_all(pod.requests());
            simulation.change_room(pod, true);
        }
        let search = Search::new(&simulation.node_resources, candidates.iter().map(|one| (0, one)));
        simulation.searches = [(false, search)].into_iter().collect();
        Self {
            room: QueueRoom::of(&queue_state, decided, &going, simulation.context),
            held: simulation.staying[leaf.at].clone(),
            beginning: simulation.mark(),
            may_take: may_take && (members.is_begun() || !members.is_under_way(leaf, snapshot.now)),
            queue_state,
            members,
            simulation,
            candidates,
            goes_for: FxHashMap::default(),
            searches: MOST_SEARCHES,
            met: BTreeMap::new(),
            restored: BTreeMap::new(),
            unmet: BTreeSet::new(),
        }
    }

    /// Meets `waiting_units`, which come most important first, as far as can be.
    pub(super) fn meet(&mut self, waiting_units: &[WaitingUnits<'a>]) {
        let minimums = waiting_units.iter().enumerate();
        let minimums: BTreeMap<&GangName, usize> =
            minimums.filter_map(|(number, waiting)| Some((waiting.completes()?, number))).collect();
        for (number, waiting) in waiting_units.iter().enumerate() {
            // What a gang has on top of its minimum is of no use without it.
            let minimum = waiting.surplus_of().and_then(|gang| minimums.get(gang));
            let is_of_use = minimum.is_none_or(|number| self.met.contains_key(number));
            // A workload that gives receives nothing, so that what was taken from it is really gone.
            if is_of_use && (waiting.kind == Kind::Unschedulable || !self.gives(waiting)) {
                let chosen = self.simulation.mark();
                self.meet_one(number, waiting);
                if self.simulation.victims_since(chosen).next().is_some() {
                    self.reprieve();
                }
            }
        }
        self.simulation.searches.clear();
    }

    /// Lets victims stay that turned out not to be needed: what goes for later units may be enough for earlier ones, too. No
    /// unit of a lower priority has taken their room yet.
    fn reprieve(&mut self) {
        let (members, room, held, at) = (&self.members, &self.room, &self.held, self.queue_state.leaf.at);
        let lacking = room.lacks_already(&held.less(&self.simulation.staying[at]));
        self.simulation.reprieve(self.beginning, &|simulation, back| {
            let freed = held.less(&simulation.staying[at].plus(&back.all_requests()));
            !back.pods().iter().any(|pod| members.is_before_any(pod, &simulation.gone))
                && room.lacks_already(&freed).fits_in(&lacking)
        });
    }

    /// The pods that are to go, in the order of their choice.
    pub(super) fn victims(&self) -> impl Iterator<Item = &'a Pod> {
        self.simulation.victims_since(self.beginning).flat_map(Candidate::everything)
    }

    /// Whether pods of the workload go now, or are about to because it was scaled down.
    fn gives(&self, waiting: &WaitingUnits<'_>) -> bool {
        let is_its = |pod: &Pod| {
            let is_slot =
                || waiting.slots_of().is_some_and(|job| pod.gang().map(|gang| &gang.name) == Some(job));
            pod.owner() == waiting.owner || is_slot()
        };
        waiting.owner.is_some_and(|owner| self.members.gives(owner)) || self.victims().any(is_its)
    }

    fn meet_one(&mut self, number: usize, waiting: &WaitingUnits<'a>) {
        for _ in 0..waiting.units.min(MOST_UNITS) {
            let mark = self.simulation.mark();
            if !(self.has_places(number, waiting) && self.has_room(number, waiting)) {
                self.simulation.undo(mark);
                if self.may_take {
                    self.unmet.insert(number);
                }
                return;
            }
            let met = self.met.entry(number).or_default();
            *met = met.saturating_add(1);
            let is_free = self.simulation.victims_since(mark).next().is_none();
            if waiting.kind == Kind::HeldBack && is_free && self.room.has_now(&waiting.requests) {
                let restored = self.restored.entry(number).or_default();
                *restored = restored.saturating_add(1);
            }
            if waiting.kind != Kind::Unschedulable {
                self.room.book(&waiting.requests);
            }
        }
    }

    /// Whether there are, or will be, places on nodes for the pods of a unit.
    fn has_places(&mut self, number: usize, waiting: &WaitingUnits<'a>) -> bool {
        let mut places = waiting.pods.iter().map(|(shape, pods)| (*shape, *pods.min(&MOST_UNITS)));
        places.all(|(shape, pods)| (0..pods).all(|_| self.place(number, waiting, shape)))
    }

    fn place(&mut self, number: usize, waiting: &WaitingUnits<'a>, shape: &'a Shape) -> bool {
        if let Some(node) = self.simulation.node_resources.free_for(shape) {
            self.simulation.place(node, shape);
            return true;
        }
        let Some(staying) = self.staying() else { return false };
        let rules =
            Yielding { members: &self.members, staying, beneficiary: (waiting.kind, waiting.priority) };
        let exists = waiting.kind == Kind::Unschedulable;
        let group = Group {
            inside: Some(self.queue_state.leaf.at),
            within_target: None,
            priority: Some(waiting.priority),
            exists,
        };
        let Some((node, victims)) = self.simulation.cheapest(shape, group, &[], &rules) else { return false };
        self.take(number, victims);
        self.simulation.place(node, shape);
        true
    }

    /// Whether there is, or will be, room in the queue for a unit. What exists is in the queue already.
    fn has_room(&mut self, number: usize, waiting: &WaitingUnits<'a>) -> bool {
        let freed = self.held.less(&self.simulation.staying[self.queue_state.leaf.at]);
        let lacking = self.room.lacks(&waiting.requests, &freed);
        if waiting.kind == Kind::Unschedulable || lacking.is_empty() {
            return true;
        }
        let Some(staying) = self.staying() else { return false };
        let rules =
            Yielding { members: &self.members, staying, beneficiary: (waiting.kind, waiting.priority) };
        let victims = self.simulation.fewest_victims(&self.candidates, &lacking, &rules);
        let Some(victims) = victims else { return false };
        self.take(number, victims);
        true
    }

    /// What stays now, for another search; none if no pod goes.
    fn staying(&mut self) -> Option<Staying<'a>> {
        self.searches = self.searches.checked_sub(1).filter(|_| self.may_take)?;
        Some(Staying::of(&self.members, self.queue_state.leaf.eviction, self.simulation))
    }

    fn take(&mut self, number: usize, victims: Vec<Candidate<'a>>) {
        for candidate in victims {
            self.goes_for.extend(candidate.everything().map(|pod| (&pod.uid, number)));
            // What is reported is the reason of the scaling.
            self.simulation.take(candidate, Some(self.queue_state.leaf.at), EvictionReason::Reclaimed, None);
        }
    }
}
