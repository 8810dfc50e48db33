//! One queue while it is decided who of it yields to whom.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::members::{Gangs, Member, ranked};
use super::room::QueueRoom;
use crate::amounts::Amounts;
use crate::choice::{At, Budgets, Candidate, NodeCandidate, NodeResources, QueueState, Score, rank, select};
use crate::names::PodUid;
use crate::plan::Stage;
use crate::reason::Reason;
use crate::snapshot::{Pod, Shape, Snapshot};
use crate::usage::Usage;

/// A pod by its owner's place among the members, and its own among the owner's pods.
pub(super) type Place = (usize, usize);

/// One queue: its owners, and the room that is left in it.
pub(super) struct QueuePreemption<'a> {
    pub(super) queue_state: QueueState<'a>,
    pub(super) members: Vec<Member<'a>>,
    /// All pods that may be chosen, least protected first.
    ranked: Vec<Place>,
    /// Those among them that are on their way out already.
    on_their_way: BTreeSet<Place>,
    snapshot: &'a Snapshot,
    usage: &'a Usage<'a>,
    capacity: Amounts,
    pub(super) state_so_far: PreemptionState<'a>,
}

/// What changes while asks are met one after the other.
#[derive(Clone)]
pub(super) struct PreemptionState<'a> {
    pub(super) room: QueueRoom,
    /// The pods that are to go, each with the number of the ask that it goes for.
    pub(super) chosen: BTreeMap<Place, usize>,
    gangs: Gangs<'a>,
    budgets: Budgets<'a>,
}

/// What one pod needs.
#[derive(Clone, Copy)]
pub(super) struct Need<'n> {
    pub(super) shape: &'n Shape,
    pub(super) priority: i32,
    /// What its queue lacks for it.
    pub(super) of_queue: &'n Amounts,
}

impl<'a> QueuePreemption<'a> {
    pub(super) fn new(
        queue_state: QueueState<'a>,
        members: Vec<Member<'a>>,
        room: QueueRoom,
        on_their_way: &BTreeSet<PodUid>,
        (snapshot, usage, capacity): (&'a Snapshot, &'a Usage<'a>, Amounts),
    ) -> Self {
        let ranked = ranked(&members);
        let goes = |(at, pod): &&Place| {
            let candidate = members.get(*at).and_then(|member| member.pods.get(*pod));
            candidate.is_some_and(|candidate| on_their_way.contains(&candidate.pod.uid))
        };
        let on_their_way = ranked.iter().filter(goes).copied().collect();
        let gangs = Gangs::of(&members);
        let budgets = Budgets::of(queue_state.state);
        let state_so_far = PreemptionState { room, chosen: BTreeMap::new(), gangs, budgets };
        Self { queue_state, members, ranked, on_their_way, snapshot, usage, capacity, state_so_far }
    }

    /// The pods of one owner that are to go and are not on their way yet, each with the ask that it goes for.
    pub(super) fn newly_chosen_of(&self, member: usize) -> impl Iterator<Item = (Place, usize)> {
        let of_member = self.state_so_far.chosen.range((member, 0)..(member.saturating_add(1), 0));
        let new = of_member.filter(|(place, _)| !self.on_their_way.contains(place));
        new.map(|(place, number)| (*place, *number))
    }

    /// The pods of one owner that stay.
    pub(super) fn left_of(&self, member: usize) -> impl Iterator<Item = Place> {
        let pods = self.members.get(member).map_or(0..0, |one| one.surplus..one.pods.len());
        let goes =
            |place: &Place| self.state_so_far.chosen.contains_key(place) || self.on_their_way.contains(place);
        pods.map(move |pod| (member, pod)).filter(move |place| !goes(place))
    }

    /// How many pods are to go and are not on their way yet.
    pub(super) fn newly_chosen(&self) -> usize {
        self.state_so_far.chosen.keys().filter(|place| !self.on_their_way.contains(place)).count()
    }

    /// How many pods of an owner stay when nothing is done.
    pub(super) fn staying(&self, member: usize) -> usize {
        let all = self.members.get(member).map_or(0, Member::staying);
        let going = self.on_their_way.range((member, 0)..(member.saturating_add(1), 0)).count();
        all.saturating_sub(going)
    }

    pub(super) fn candidate(&self, place: Place) -> Option<&Candidate<'a>> {
        self.members.get(place.0)?.pods.get(place.1)
    }

    /// The cheapest victims that leave room for `need` where no node has room for it: of the node that is the cheapest to
    /// free, and as many more as the queue lacks room for.
    pub(super) fn free_a_node(
        &mut self,
        need: Need<'_>,
        node_resources: &NodeResources<'a>,
    ) -> Option<(At, Vec<Place>)> {
        let able = self.able(need);
        let mut by_node: BTreeMap<At, Vec<Place>> = BTreeMap::new();
        for place in &able {
            let node = self.candidate(*place).and_then(|candidate| candidate.pod.node.as_ref());
            if let Some(at) = node.and_then(|node| node_resources.find(node)) {
                by_node.entry(at).or_default().push(*place);
            }
        }
        let mut best: Option<(Cost, At, Vec<Place>)> = None;
        for (at, here) in by_node {
            let Some(of_node) = node_resources.shortfall(at, need.shape) else { continue };
            let Some(victims) = self.victims(need, &able, &here, &of_node) else { continue };
            let node_candidates: Vec<NodeCandidate<'a>> = victims
                .iter()
                .filter_map(|place| self.candidate(*place))
                .map(|candidate| NodeCandidate { leaf: 0, candidate: candidate.clone() })
                .collect();
            let score = Cost::of(
                &node_candidates,
                Score::of(&node_candidates, node_resources, at, need.shape, &self.capacity),
            );
            if best.as_ref().is_none_or(|(least, other, _)| (&score, at) < (least, *other)) {
                best = Some((score, at, victims));
            }
        }
        best.map(|(_, at, victims)| (at, victims))
    }

    /// The cheapest victims, wherever they are, that leave as much as the queue lacks for `need`.
    pub(super) fn free_the_queue(&mut self, need: Need<'_>) -> Option<Vec<Place>> {
        let able = self.able(need);
        self.victims(need, &able, &[], &Amounts::new())
    }

    /// The pods that may go for `need`, least protected first.
    fn able(&self, need: Need<'_>) -> Vec<Place> {
        let may_go = |place: &&Place| {
            let all = self.with_predecessors(&BTreeSet::from([**place]));
            all.iter().all(|place| self.forbids(*place, need.priority).is_none()) && self.stays_in_order(&all)
        };
        let free = self.ranked.iter().filter(|place| !self.state_so_far.chosen.contains_key(place));
        free.filter(may_go).copied().collect()
    }

    /// Why a pod does not go for an ask of `priority`.
    fn forbids(&self, place: Place, priority: i32) -> Option<Reason> {
        let pod = self.candidate(place)?.pod;
        let no_lower = (pod.priority >= priority).then_some(Reason::PriorityAboveAsk);
        no_lower.or_else(|| self.members.get(place.0)?.rule(place.1, |pod: &Pod| self.usage.frees_room(pod)))
    }

    /// The rule that keeps the pod at `place` whatever lacks room, if there is one.
    pub(super) fn rule(&self, place: Place) -> Option<Reason> {
        let member = self.members.get(place.0)?;
        let alone = BTreeSet::from([place]);
        let gang = || {
            let holds = self.state_so_far.gangs.hold(self.candidate(place).into_iter());
            (!holds).then_some(Reason::GangFloor)
        };
        let last = || (!self.stays_in_order(&alone)).then_some(Reason::LastReplica);
        member.rule(place.1, |pod: &Pod| self.usage.frees_room(pod)).or_else(last).or_else(gang)
    }

    /// Victims among those `here`, on one node, that free `of_node` there, with others of the `able` that free what the
    /// queue lacks.
    fn victims(
        &mut self,
        need: Need<'_>,
        able: &[Place],
        here: &[Place],
        of_node: &Amounts,
    ) -> Option<Vec<Place>> {
        let mut barred: BTreeSet<Place> = BTreeSet::new();
        loop {
            let chosen = self.enough(need, able, here, of_node, &barred)?;
            match self.first_forbidden(&chosen) {
                None => {
                    let needed = self.without_the_unneeded(need, here, of_node, chosen);
                    return Some(self.in_order(&self.with_predecessors(&needed)));
                }
                Some(place) => barred.insert(place),
            };
        }
    }

    /// As few as suffice, whether they may go together or not.
    fn enough(
        &self,
        need: Need<'_>,
        able: &[Place],
        here: &[Place],
        of_node: &Amounts,
        barred: &BTreeSet<Place>,
    ) -> Option<BTreeSet<Place>> {
        let mut chosen = self.select(here.iter().filter(|place| !barred.contains(place)), of_node);
        let rest = need.of_queue.less(&self.sum(&self.with_predecessors(&chosen)));
        if !rest.is_empty() {
            let others = able.iter().filter(|place| !barred.contains(place) && !chosen.contains(place));
            chosen.extend(self.select(others, &rest));
        }
        self.suffices(need, here, of_node, &chosen).then_some(chosen)
    }

    fn suffices(&self, need: Need<'_>, here: &[Place], of_node: &Amounts, chosen: &BTreeSet<Place>) -> bool {
        let all = self.with_predecessors(chosen);
        let there = all.iter().filter(|place| here.contains(place)).copied().collect();
        of_node.fits_in(&self.sum(&there)) && need.of_queue.fits_in(&self.sum(&all))
    }

    /// Those of `places`, least protected first, that cover `lacking`; as much of it as they can.
    fn select<'p>(&self, places: impl Iterator<Item = &'p Place>, lacking: &Amounts) -> BTreeSet<Place> {
        if lacking.is_empty() {
            return BTreeSet::new();
        }
        let mut by_uid: BTreeMap<&PodUid, Place> = BTreeMap::new();
        let mut candidates = Vec::new();
        for place in places {
            let Some(candidate) = self.candidate(*place) else { continue };
            if candidate.requests().overlaps(lacking) {
                by_uid.insert(&candidate.pod.uid, *place);
                candidates.push(candidate.clone());
            }
        }
        let chosen = select(candidates, lacking, &self.capacity);
        chosen.iter().filter_map(|candidate| by_uid.get(&candidate.pod.uid).copied()).collect()
    }

    /// The first of `chosen` that may not go with those before it.
    fn first_forbidden(&mut self, chosen: &BTreeSet<Place>) -> Option<Place> {
        let mut before = BTreeSet::new();
        for place in self.in_order(chosen) {
            before.insert(place);
            let all = self.with_predecessors(&before);
            let pods: Vec<Candidate<'a>> =
                self.in_order(&all).iter().filter_map(|place| self.candidate(*place)).cloned().collect();
            let budgets = &mut self.state_so_far.budgets;
            let allowed = budgets.allow(&pods, &FxHashSet::default()).into_iter().all(|may| may);
            if !allowed || !self.stays_in_order(&all) || !self.state_so_far.gangs.hold(pods.iter()) {
                return Some(place);
            }
        }
        None
    }

    /// Whether every owner keeps what it has to keep when `all` go.
    fn stays_in_order(&self, all: &BTreeSet<Place>) -> bool {
        let owners: BTreeSet<usize> = all.iter().map(|(member, _)| *member).collect();
        owners.into_iter().all(|at| {
            let chosen = self.state_so_far.chosen.keys().chain(all).chain(&self.on_their_way);
            let going = chosen.filter(|(member, _)| *member == at).map(|(_, pod)| *pod).collect();
            let member = self.members.get(at);
            member.is_some_and(|member| member.keeps_enough(&going, self.queue_state.eviction, self.snapshot))
        })
    }

    /// `chosen` without those that the others make up for, most protected first.
    fn without_the_unneeded(
        &self,
        need: Need<'_>,
        here: &[Place],
        of_node: &Amounts,
        mut chosen: BTreeSet<Place>,
    ) -> BTreeSet<Place> {
        for place in self.in_order(&chosen).into_iter().rev() {
            chosen.remove(&place);
            if !self.suffices(need, here, of_node, &chosen) {
                chosen.insert(place);
            }
        }
        chosen
    }

    /// `places`, and every pod that its owner's controller removes before one of them.
    fn with_predecessors(&self, places: &BTreeSet<Place>) -> BTreeSet<Place> {
        let mut all = places.clone();
        for (at, pod) in places {
            let Some(member) = self.members.get(*at) else { continue };
            all.extend(member.predecessors(*pod).map(|before| (*at, before)));
        }
        all.retain(|place| !self.state_so_far.chosen.contains_key(place));
        all
    }

    /// Whether the owner's controller removes the pod at `place` before one of `others`, whatever is marked.
    pub(super) fn is_before_any<'p>(
        &self,
        place: Place,
        mut others: impl Iterator<Item = &'p Place>,
    ) -> bool {
        let member = self.members.get(place.0);
        member.is_some_and(|member| {
            others.any(|(owner, pod)| *owner == place.0 && member.predecessors(*pod).contains(&place.1))
        })
    }

    /// Least protected first.
    pub(super) fn in_order(&self, places: &BTreeSet<Place>) -> Vec<Place> {
        let mut order: Vec<Place> = places.iter().copied().collect();
        order.sort_by(|a, b| match (self.candidate(*a), self.candidate(*b)) {
            (Some(a), Some(b)) => rank(a, b),
            _ => a.cmp(b),
        });
        order
    }

    fn sum(&self, places: &BTreeSet<Place>) -> Amounts {
        let mut sum = Amounts::new();
        for candidate in places.iter().filter_map(|place| self.candidate(*place)) {
            sum.add_all(candidate.requests());
        }
        sum
    }

    /// Books `victims` as going for the ask called `number`, and gives their room to their nodes.
    pub(super) fn take(&mut self, victims: &[Place], number: usize, node_resources: &mut NodeResources<'a>) {
        for place in victims {
            let Some(candidate) = self.candidate(*place).cloned() else { continue };
            self.state_so_far.room.give(candidate.requests());
            self.state_so_far.budgets.book(&candidate);
            self.state_so_far.gangs.lose(&candidate);
            self.state_so_far.chosen.insert(*place, number);
            if let Some(at) = candidate.pod.node.as_ref().and_then(|node| node_resources.find(node)) {
                node_resources.give(at, candidate.requests());
            }
        }
    }
}

/// What it costs to free a node: S-MCM's order, then whatever tells one node from another.
///
/// It never rises while victims move on: of fewer of the same pods each part is at most as much.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    /// Victims that should go only when nothing else is left.
    protected: usize,
    /// The furthest stage among them.
    stage: Option<Stage>,
    /// Their priorities, the highest first.
    priorities: Vec<i32>,
    rest: Score,
}

impl Cost {
    fn of(victims: &[NodeCandidate<'_>], rest: Score) -> Self {
        let candidates = || victims.iter().map(|node_candidate| &node_candidate.candidate);
        let mut priorities: Vec<i32> = candidates().map(|candidate| candidate.pod.priority).collect();
        priorities.sort_unstable_by_key(|priority| Reverse(*priority));
        Self {
            protected: candidates().filter(|candidate| candidate.protected).count(),
            stage: candidates().map(|candidate| candidate.stage).max(),
            priorities,
            rest,
        }
    }
}
