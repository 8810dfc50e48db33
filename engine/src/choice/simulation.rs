//! The cluster while victims are chosen: pods are removed and added, and everything can be undone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::budgets::Budgets;
use super::nodes::Search;
use super::sorted_tree::{Above, Giver};
use super::work::Work;
use super::{Context, QueueState};
use crate::amounts::{Amount, Amounts, Bounds, Resource};
use crate::candidates::Candidate;
use crate::leaf::Leaf;
use crate::names::GangName;
use crate::nodes::{At, NodeResources};
use crate::pod_set::PodSet;
use crate::reasons::{EvictionReason, KeptReason};
use crate::shares::Fraction;
use crate::snapshot::{Phase, Pod, Shape};
use crate::total::total;
use crate::tree::{BranchId, BranchMap, Room};

/// A candidate that was chosen, and the queue that gains its room.
#[derive(Clone, Debug)]
pub(super) struct Victim<'a> {
    pub(super) candidate: Candidate<'a>,
    /// The leaf that gains by it.
    pub(super) beneficiary: Option<BranchId>,
    pub(super) reason: EvictionReason,
    /// What gets its room on its node; none where only quotas lack room.
    pub(super) unit: Option<PlacedUnit>,
}

/// A pod that is placed, or pods that are of use only together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedUnit {
    /// The place of the first among all pods that were placed.
    first: usize,
    /// Whether it exists, and waits for a node.
    pub(super) exists: bool,
}

/// The gangs that go as a whole, each with its leaf.
type WholeGangs<'a> = FxHashSet<(BranchId, &'a GangName)>;

/// How far a queue is above its target: first whether a limit is exceeded, for these pods go anyway, then the queues from the
/// root down to it, each by its weight among its siblings.
pub(super) type Level = SmallVec<[Fraction; 3]>;

/// The cluster while victims are chosen.
pub(crate) struct Simulation<'a> {
    pub(crate) context: Context<'a>,
    /// The nodes; none as long as no pod needs a place.
    pub(crate) node_resources: NodeResources<'a>,
    /// Whether pods need places on nodes.
    pub(super) looks_at_nodes: bool,
    /// Where candidates are: pods of queues above their targets, or of all queues (true).
    pub(crate) searches: FxHashMap<bool, Search<'a>>,
    /// What queues occupy once things have settled and what is kept for them, and what is free beside that.
    pub(super) free: Room<'a>,
    /// What pods below every branch hold that stay.
    pub(crate) staying: BranchMap<Amounts>,
    /// The part of that above the targets.
    pub(super) over: BranchMap<Amounts>,
    /// The same by the weight of every branch.
    pub(super) above: Above,
    /// What pods of every leaf hold that does not count as demand: no guarantee is for them.
    pub(super) uncounted: BranchMap<Amounts>,
    /// What is guaranteed and deserved below every branch.
    pub(super) floor: BranchMap<Bounds>,
    /// What every leaf needs of resources of which there is less than all hold and need.
    pub(super) contested: BranchMap<Amounts>,
    /// What is promised to every leaf: units and claims that its pods do not hold yet.
    pub(super) promised: BranchMap<Amounts>,
    /// What pods without a node hold in each leaf: they go first, and leave no node any room.
    unbound: BranchMap<Amounts>,
    budgets: BranchMap<Option<Budgets<'a>>>,
    pub(crate) gone: PodSet,
    /// The victims so far, in the order of their choice.
    pub(super) victims: Vec<Victim<'a>>,
    /// The pods that were placed, each with its node.
    placed: Vec<(At, &'a Shape)>,
    /// The same by node, as places in that list.
    placed_on: BTreeSet<(At, usize)>,
    /// The same in the order of the promises.
    promises: Vec<(BranchId, Amounts)>,
    /// The pods that a rule kept although they would have helped, by leaf.
    pub(super) passed_over: BTreeMap<BranchId, Vec<(&'a Pod, KeptReason)>>,
    noted: PodSet,
    /// The work so far.
    pub(super) work: Work,
    /// How many candidates were looked at on nodes, and are no part of it yet.
    pub(super) looks: u64,
}

/// A state to go back to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(super) victims: usize,
    placed: usize,
    promises: usize,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(context: Context<'a>) -> Self {
        let tree = context.tree;
        let of_states = |of: &dyn Fn(&QueueState<'a>) -> Amounts| {
            tree.branches.map(|at, _| context.queue_state(at).as_ref().map(of).unwrap_or_default())
        };
        let occupied = tree.sums(of_states(&|queue_state| queue_state.settled()));
        let deserved = tree.sums(of_states(&|queue_state| queue_state.deserved.clone()));
        let floor = tree.branches.map(|at, branch| {
            let guaranteed = branch.queue.guaranteed.iter();
            guaranteed.map(|(one, amount)| (one.clone(), amount.min(deserved[at].get(one)))).collect()
        });
        let mut simulation = Self {
            node_resources: NodeResources::none(context.usage),
            looks_at_nodes: false,
            searches: FxHashMap::default(),
            free: Room::beside(tree, &context.capacity.of(context.resources), occupied),
            staying: tree.sums(context.of_leaves(|leaf| leaf.staying.clone())),
            over: tree.sums(of_states(&|queue_state| queue_state.overuse())),
            above: tree.branches.map(|_, _| Fraction::NOTHING),
            floor,
            uncounted: context.of_leaves(|leaf| leaf.uncounted.clone()),
            contested: tree.branches.map(|_, _| Amounts::new()),
            promised: tree.branches.map(|_, _| Amounts::new()),
            unbound: context.of_leaves(unbound),
            budgets: tree.branches.map(|_, _| None),
            gone: PodSet::default(),
            victims: Vec::new(),
            placed: Vec::new(),
            placed_on: BTreeSet::new(),
            promises: Vec::new(),
            passed_over: BTreeMap::new(),
            noted: PodSet::default(),
            work: Work::default(),
            looks: 0,
            context,
        };
        simulation.above = tree.branches.map(|at, _| simulation.over_by_weight(at));
        simulation
    }

    pub(super) fn budgets(&mut self, at: BranchId) -> Option<&mut Budgets<'a>> {
        let leaf = self.context.leaf(at)?;
        Some(self.budgets[at].get_or_insert_with(|| Budgets::of(leaf.state)))
    }

    /// What pods on nodes hold above the target of the leaf at `at`: what pods without a node hold goes first.
    pub(super) fn over_on_nodes(&self, at: BranchId, resource: &Resource) -> Amount {
        self.over[at].get(resource).less(self.unbound[at].get(resource))
    }

    /// How far the leaf at `at` is above its target.
    pub(super) fn level(&self, at: BranchId) -> Level {
        let above = self.context.tree.path_up(at).skip(1).map(|(at, _)| self.above[at]);
        let mut level = self.own_level(at);
        above.for_each(|above| level.insert(1, above));
        level
    }

    /// The same without the queues above it.
    pub(super) fn own_level(&self, at: BranchId) -> Level {
        smallvec![Fraction { part: self.is_above_a_limit(at).into(), whole: 1 }, self.above[at]]
    }

    /// Its place among the leaves that may give.
    pub(super) fn as_giver(&self, at: BranchId) -> Giver {
        (Reverse(self.is_above_a_limit(at)), Reverse(self.above[at]))
    }

    fn over_by_weight(&self, at: BranchId) -> Fraction {
        let over = &self.over[at];
        match self.context.tree.branches[at].queue.weight {
            // It has only what no other needs.
            0 => {
                let Fraction { part, whole } = self.context.dominant(over, 1);
                Fraction { part: part.saturating_mul(u32::MAX.into()), whole }
            }
            weight => self.context.dominant(over, weight),
        }
    }

    /// Whether a limit is exceeded below which the leaf at `at` is.
    pub(super) fn is_above_a_limit(&self, at: BranchId) -> bool {
        let mut path = self.context.tree.path_up(at);
        path.any(|(at, _)| self.limits(at).any(|(one, limit)| self.staying[at].get(one) > limit))
    }

    /// The limits of the queue at `at`. Where there is nothing of a resource, nothing of it is taken.
    pub(super) fn limits(&self, at: BranchId) -> impl Iterator<Item = (&Resource, Amount)> {
        let limits = self.context.tree.branches[at].queue.limit.iter();
        limits.filter(|(one, _)| self.context.resources.contains(one))
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { victims: self.victims.len(), placed: self.placed.len(), promises: self.promises.len() }
    }

    /// What was chosen since `mark`, in the order of choice.
    pub(crate) fn victims_since(&self, mark: Mark) -> impl Iterator<Item = &Candidate<'a>> {
        self.victims.iter().skip(mark.victims).map(|victim| &victim.candidate)
    }

    /// Goes back to how it was at `mark`.
    pub(crate) fn undo(&mut self, mark: Mark) {
        for (at, amounts) in self.promises.split_off(mark.promises) {
            self.reserve(at, &amounts.times(-1));
        }
        for (place, (node, shape)) in (mark.placed..).zip(self.placed.split_off(mark.placed)) {
            self.placed_on.remove(&(node, place));
            self.vacate(node, shape);
        }
        let back = self.victims.split_off(mark.victims);
        back.iter().rev().for_each(|victim| self.shift(&victim.candidate, true));
        if !back.is_empty() {
            // Nodes may be cheaper again than what is known of them.
            self.searches.values_mut().for_each(Search::forget);
        }
    }

    /// Keeps `amounts` for the leaf at `at`. What of them it did not occupy yet.
    pub(super) fn promise(&mut self, at: BranchId, amounts: Amounts) -> Amounts {
        let occupied = self.reserve(at, &amounts);
        self.promises.push((at, amounts));
        occupied
    }

    /// What of the promises to the leaf at `at` is not granted to it.
    pub(super) fn owed(&self, at: BranchId) -> Amounts {
        self.promised[at].less(&self.granted_beside_pods(at))
    }

    /// What is granted to the leaf at `at` beside what its pods are charged.
    fn granted_beside_pods(&self, at: BranchId) -> Amounts {
        let granted = self.context.granted.firm[at].less(&self.staying[at]);
        self.context.leaf(at).map_or_else(Amounts::new, |leaf| granted.less(&leaf.unrunnable))
    }

    fn reserve(&mut self, at: BranchId, amounts: &Amounts) -> Amounts {
        let mut occupied = Amounts::new();
        for (one, amount) in amounts.iter() {
            let before = self.occupies(at, one);
            self.promised[at].add(one, amount);
            occupied.set(one, self.occupies(at, one) - before);
            self.free.take_of(at, one, occupied.get(one));
        }
        occupied
    }

    /// Notes what leaves need: of what is short for all of it, no guarantee of a giver is touched.
    pub(super) fn contest(&mut self, needed: &BTreeMap<BranchId, Amounts>) {
        let mut left = self.free.everywhere.clone();
        for (at, amounts) in needed {
            left.subtract_all(amounts);
            // What is granted of it is not free.
            left.add_all(&amounts.min(&self.granted_beside_pods(*at)));
        }
        let is_short = |one: &&Resource| left.get(one) < Amount::ZERO;
        let short: Vec<Resource> = left.resources().filter(is_short).cloned().collect();
        for (at, amounts) in needed {
            self.contested[*at].add_all(&amounts.of(&short));
        }
    }

    /// What is placed next.
    pub(super) const fn next_unit(&self, exists: bool) -> PlacedUnit {
        PlacedUnit { first: self.placed.len(), exists }
    }

    /// Puts a pod of `shape` on a node.
    pub(crate) fn place(&mut self, node: At, shape: &'a Shape) {
        self.node_resources.take(node, &shape.requests);
        self.placed_on.insert((node, self.placed.len()));
        self.placed.push((node, shape));
    }

    /// Gives back the room of a pod of `shape` on a node.
    pub(super) fn vacate(&mut self, node: At, shape: &Shape) {
        self.node_resources.give(node, &shape.requests);
        self.searches.values_mut().for_each(|search| search.changed(node, false));
    }

    /// Whether some of its pods are chosen already.
    pub(crate) fn is_gone(&self, candidate: &Candidate<'a>) -> bool {
        candidate.pods().iter().any(|pod| self.gone.contains(pod))
    }

    /// Counts `candidate` as gone, or as there again.
    pub(super) fn shift(&mut self, candidate: &Candidate<'a>, is_back: bool) {
        let (at, context, sign) = (candidate.leaf, self.context, if is_back { 1 } else { -1 });
        for pod in candidate.pods() {
            for (one, amount) in pod.requests().iter().filter(|(one, _)| context.resources.contains(one)) {
                self.hold(at, one, amount.times(sign));
            }
            if is_back {
                self.gone.remove(pod);
            } else {
                self.gone.insert(pod);
            }
            if context.leaf(at).is_some_and(|leaf| !leaf.demand.trust.counts(pod)) {
                self.uncounted[at].add_all(&pod.requests().of(context.resources).times(sign));
            }
            if is_unbound(pod) {
                self.unbound[at].add_all(&pod.requests().times(sign));
            }
            self.change_room(pod, !is_back);
        }
        for (index, _) in context.tree.path_up(at) {
            self.above[index] = self.over_by_weight(index);
        }
        if let Some(budgets) = self.budgets(at) {
            if is_back {
                budgets.unbook(candidate);
            } else {
                budgets.book(candidate);
            }
        }
    }

    /// Books that pods of the leaf at `at` hold so much more of `one`, or less.
    fn hold(&mut self, at: BranchId, one: &Resource, more: Amount) {
        let bound = self.context.targets[at].get(one).max(self.context.granted.firm[at].get(one));
        let (before, occupied) = (self.staying[at].get(one), self.occupies(at, one));
        let over = (before + more).less(bound) - before.less(bound);
        for (index, _) in self.context.tree.path_up(at) {
            self.staying[index].add(one, more);
            self.over[index].add(one, over);
        }
        self.free.take_of(at, one, self.occupies(at, one) - occupied);
    }

    /// What the leaf at `at` occupies of `one`: what its pods hold, or is granted, and what of the promises is not.
    fn occupies(&self, at: BranchId, one: &Resource) -> Amount {
        self.would_hold(at, one, self.staying[at].get(one))
    }

    /// The same if its pods held `staying`.
    fn would_hold(&self, at: BranchId, one: &Resource, staying: Amount) -> Amount {
        let firm = self.context.granted.firm[at].get(one);
        let unrunnable = self.context.leaf(at).map(|leaf| leaf.unrunnable.get(one)).unwrap_or_default();
        firm.max(staying) + self.promised[at].get(one).less(firm.less(staying + unrunnable))
    }

    /// How much more of `one` its leaf would occupy with the victim `back`.
    pub(super) fn would_occupy(&self, back: &Candidate<'a>, one: &Resource) -> Amount {
        let amount = back.all_requests_of(one);
        if amount.is_zero() || !self.context.resources.contains(one) {
            return Amount::ZERO;
        }
        let staying = self.staying[back.leaf].get(one) + amount;
        self.would_hold(back.leaf, one, staying) - self.occupies(back.leaf, one)
    }

    /// Lets victims stay that `suffices` says can be back: of those since `mark`, the last chosen first. What was placed where
    /// they are is moved if it has room elsewhere.
    pub(crate) fn reprieve(&mut self, mark: Mark, suffices: &dyn Fn(&Self, &Candidate<'a>) -> bool) {
        let mut whole_gangs = self.whole_gangs(mark);
        let mut go = Vec::new();
        // Without the rest of its gang, which goes as a whole, a pod is of no use.
        let may_stay = |simulation: &Self, candidate: &Candidate<'a>, whole_gangs: &WholeGangs<'a>| {
            let is_of_use = || {
                let gang = candidate.pod.gang().filter(|_| !candidate.is_gang());
                gang.is_none_or(|gang| !whole_gangs.contains(&(candidate.leaf, &gang.name)))
            };
            (whole_gangs.is_empty() || is_of_use()) && suffices(simulation, candidate)
        };
        // Those behind the last one that can be back stay where they are. Mostly these are all.
        let since = self.victims.get(mark.victims..).unwrap_or_default();
        let last = since.iter().rposition(|victim| may_stay(self, &victim.candidate, &whole_gangs));
        let Some(last) = last else { return };
        let behind = self.victims.split_off(mark.victims.saturating_add(last).saturating_add(1));
        for victim in self.victims.split_off(mark.victims).into_iter().rev() {
            let mut stays = may_stay(self, &victim.candidate, &whole_gangs);
            if stays {
                self.shift(&victim.candidate, true);
                stays = self.has_room_again(&victim.candidate);
                if !stays {
                    self.shift(&victim.candidate, false);
                }
            }
            if !stays {
                go.push(victim);
            } else if let Some(gang) = victim.candidate.pod.gang() {
                whole_gangs.remove(&(victim.candidate.leaf, &gang.name));
            }
        }
        self.victims.extend(go.into_iter().rev().chain(behind));
    }

    /// Whether the pods of `candidate` have room where they are, once what was placed there is moved.
    fn has_room_again(&mut self, candidate: &Candidate<'a>) -> bool {
        let nodes = candidate.pods().iter().filter_map(|pod| self.node_resources.find(pod.node.as_ref()?));
        let nodes: BTreeSet<At> = nodes.collect();
        let mut moved: Vec<(usize, At)> = Vec::new();
        let fits = nodes.into_iter().all(|node| self.move_away(node, &mut moved));
        if !fits {
            for (place, node) in moved.into_iter().rev() {
                self.move_to(place, node);
            }
        }
        fits
    }

    /// Moves placed pods away until the node has no more than it holds.
    fn move_away(&mut self, node: At, moved: &mut Vec<(usize, At)>) -> bool {
        let on_node = self.placed_on.range((node, 0)..=(node, usize::MAX));
        let here: Vec<(usize, &'a Shape)> =
            on_node.filter_map(|(_, place)| Some((*place, self.placed.get(*place)?.1))).collect();
        for (place, shape) in here {
            if !self.node_resources.is_overfull(node) {
                break;
            }
            if let Some(other) = self.node_resources.tightest(shape, Some(node)) {
                self.move_to(place, other);
                moved.push((place, node));
            }
        }
        !self.node_resources.is_overfull(node)
    }

    fn move_to(&mut self, place: usize, node: At) {
        if let Some((at, shape)) = self.placed.get_mut(place) {
            self.node_resources.give(*at, &shape.requests);
            self.node_resources.take(node, &shape.requests);
            self.placed_on.remove(&(*at, place));
            self.placed_on.insert((node, place));
            *at = node;
        }
    }

    /// The gangs that go as a whole; none if no victim since `mark` is of a gang.
    fn whole_gangs(&self, mark: Mark) -> WholeGangs<'a> {
        let mut since = self.victims.iter().skip(mark.victims);
        if since.all(|victim| victim.candidate.pod.gang().is_none()) {
            return WholeGangs::default();
        }
        let whole = self.victims.iter().filter(|victim| victim.candidate.is_gang());
        whole.filter_map(|victim| Some((victim.candidate.leaf, &victim.candidate.pod.gang()?.name))).collect()
    }

    /// Gives the room of `pod` to its node, or takes it.
    pub(crate) fn change_room(&mut self, pod: &Pod, gives: bool) {
        let Some(node) = pod.node.as_ref().and_then(|node| self.node_resources.find(node)) else { return };
        self.node_resources.change(node, pod.requests(), gives);
        self.searches.values_mut().for_each(|search| search.changed(node, !gives));
    }

    /// Notes that a rule keeps `pods` of the leaf at `at`, each once.
    pub(super) fn keep(&mut self, at: BranchId, pods: impl IntoIterator<Item = &'a Pod>, rule: KeptReason) {
        for pod in pods {
            if self.noted.insert(pod) {
                self.passed_over.entry(at).or_default().push((pod, rule));
            }
        }
    }
}

/// Whether a pod waits for a node.
pub(super) fn is_unbound(pod: &Pod) -> bool {
    pod.node.is_none() && pod.phase == Phase::Pending
}

/// What live pods of a leaf request that wait for a node and would take the place of any that is freed.
fn unbound(leaf: &Leaf<'_>) -> Amounts {
    if leaf.namespace_usage.pods.pending == 0 {
        return Amounts::new();
    }
    let waits = |pod: &&Pod| is_unbound(pod) && pod.is_live() && pod.kept != Some(KeptReason::MirrorPod);
    let sum = total(leaf.state.pods.iter().filter(waits).map(Pod::requests));
    // Those that no node could run take no place.
    sum.less(&leaf.namespace_usage.all_staying().less(&leaf.staying))
}
