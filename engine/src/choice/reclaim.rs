//! Room for pending pods, one workload after the other: for each wholly, or at no cost to others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::cover::Shortage;
use super::outcome::ReclaimResult;
use super::queue_state::{Need, QueueState, Units};
use super::rules::Scope;
use super::simulation::{Mark, Simulation};
use super::work::Work;
use crate::amounts::{Amount, Amounts};
use crate::demand::first_patience;
use crate::guarantee::remaining_on_path;
use crate::leaf::{Leaf, PendingUnits};
use crate::names::GangName;
use crate::nodes::At;
use crate::plan::{Preemptor, Unmet};
use crate::reasons::{EvictionReason, KeptReason, ShortReason};
use crate::snapshot::{Shape, VictimPriority};
use crate::tree::BranchId;

/// How often queues are served that lost more than they had too much.
const MOST_ROUNDS: usize = 8;

/// How many pods a plan looks for nodes for: one owner may ask for two thousand million.
pub(super) const MOST_PLACED: u32 = 20_000;

/// The pods to evict, and what their going is promised to.
///
/// None while nothing may be taken.
pub(crate) fn evictions(context: Context<'_>) -> ReclaimResult {
    let mut taken = ReclaimResult::default();
    let (nothing, all) = (Amounts::new(), context.queue_states());
    let needs: Vec<(BranchId, Need<'_>)> = all
        .map(|queue_state| (queue_state.leaf.at, queue_state.need(&queue_state.leaf.staying, &nothing, &[])))
        .filter(|(_, need)| !need.is_nothing())
        .collect();
    taken.lacking = needs.iter().map(|(at, need)| (*at, need.lacking.clone())).collect();
    // Where no queue needs anything and none holds more than its target, there is nothing to choose.
    let rests = |queue_state: QueueState<'_>| {
        let QueueState { leaf, target, owed, .. } = queue_state;
        !leaf.namespace_usage.stuck && owed.is_empty() && leaf.staying.fits_in(target)
    };
    let at_rest = needs.is_empty() && context.queue_states().all(rests);
    if at_rest || context.snapshot.reclaim_gate.held().is_some() {
        let owed = context.granted.owed.iter().filter(|(_, owed)| !owed.is_empty());
        taken.owed = owed.map(|(at, owed)| (at, owed.clone())).collect();
        return taken;
    }
    let stuck = context.each_leaf().filter(|leaf| leaf.namespace_usage.stuck).map(|leaf| leaf.at);
    let needing = needs.iter().filter(|(_, need)| !need.units.is_empty()).map(|(at, _)| *at);
    let beneficiaries: BTreeSet<BranchId> = stuck.chain(needing).collect();
    let mut simulation = Simulation::new(context);
    simulation.work = Work::for_queues(beneficiaries.len());
    let is_under_way = context.is_under_way();
    Reclaim {
        simulation,
        context,
        waits_for_nodes: first_patience(context.usage).is_some(),
        is_under_way,
        is_only_kept: is_under_way,
        pods_left: MOST_PLACED,
        left_by_victims: BTreeSet::new(),
        kept_places: None,
        asked: BTreeMap::new(),
        incomplete: BTreeMap::new(),
        taken,
        reported: BTreeMap::new(),
    }
    .run(needs, !beneficiaries.is_empty())
}

/// The state while room is made.
pub(super) struct Reclaim<'a> {
    pub(super) simulation: Simulation<'a>,
    pub(super) context: Context<'a>,
    /// Whether pods wait for nodes that may be added: then what there is too little of evicts no pod.
    waits_for_nodes: bool,
    /// Whether what was chosen before is on its way: then only as much is asked for as was promised then.
    pub(super) is_under_way: bool,
    /// Whether what was promised has its room for that reason. What pods of this plan leave was given to others.
    is_only_kept: bool,
    pods_left: u32,
    /// The nodes that a victim is on its way out of.
    pub(super) left_by_victims: BTreeSet<At>,
    /// The places that promised pods keep while pods are moved aside; none before the first one is.
    pub(super) kept_places: Option<Vec<(At, &'a Shape)>>,
    /// How many units were asked for, in the order of what each leaf wants.
    asked: BTreeMap<BranchId, Vec<u32>>,
    /// Why there is no room for the minimum of which gangs.
    incomplete: BTreeMap<(BranchId, &'a GangName), ShortReason>,
    pub(super) taken: ReclaimResult,
    /// The places of what is reported of pending pods.
    reported: BTreeMap<(BranchId, Preemptor, ShortReason), usize>,
}

impl<'a> Reclaim<'a> {
    fn run(mut self, mut needs: Vec<(BranchId, Need<'a>)>, has_beneficiaries: bool) -> ReclaimResult {
        let is_exceeded = self.simulation.free.everywhere.iter().any(|(_, amount)| amount < Amount::ZERO);
        let looks = has_beneficiaries || is_exceeded;
        let unplaced = if looks { self.simulation.look_at_nodes() } else { Vec::new() };
        let mut needed: BTreeMap<BranchId, Amounts> =
            needs.iter().map(|(at, need)| (*at, need.all())).collect();
        for (at, pod) in &unplaced {
            needed.entry(*at).or_default().add_all(pod.requests());
        }
        let unplaced = self.set_apart(unplaced);
        self.simulation.contest(&needed);
        self.place_stuck_pods(unplaced, &needs);
        let displaced = self.simulation.victims.iter();
        let displaced = displaced.filter(|victim| victim.reason == EvictionReason::Reclaimed);
        self.taken.displaced = displaced.map(|victim| victim.candidate.leaf).collect();
        needs.sort_by_cached_key(|(at, _)| self.turn(*at));
        // A whole pod may be more than its queue has too much; what it lacks then is part of its claim.
        for _ in 0..MOST_ROUNDS {
            let start = self.simulation.mark();
            for (at, need) in &needs {
                self.back_promises(*at, need);
            }
            let (later, now): (Vec<_>, Vec<_>) = needs.into_iter().partition(|(at, _)| self.is_delayed(*at));
            for (at, need) in &now {
                self.place(*at, need);
            }
            self.meet_limits();
            self.reprieve_since(start);
            // What no pod may go for keeps none from staying.
            for (at, need) in &later {
                self.place(*at, need);
            }
            let losers: BTreeSet<BranchId> =
                self.simulation.victims_since(start).map(|victim| victim.leaf).collect();
            if losers.is_empty() {
                break;
            }
            self.is_only_kept = false;
            needs = losers.into_iter().filter_map(|at| Some((at, self.need_again(at)?))).collect();
            self.simulation.contest(&needs.iter().map(|(at, need)| (*at, need.all())).collect());
        }
        self.finish()
    }

    /// What a leaf that lost pods needs beside what was asked for it.
    fn need_again(&self, at: BranchId) -> Option<Need<'a>> {
        let asked = self.asked.get(&at).map(Vec::as_slice).unwrap_or_default();
        let (staying, promised) = (&self.simulation.staying[at], &self.simulation.promised[at]);
        Some(self.context.queue_state(at)?.need(staying, promised, asked))
    }

    /// In which order leaves are served: those below their guarantees first, then those behind a fence, which can take from
    /// few.
    fn turn(&self, at: BranchId) -> (bool, Reverse<usize>, BranchId) {
        let (tree, occupied, floor) = (self.context.tree, &self.simulation.free.sums, &self.simulation.floor);
        let path = tree.path_up(at).map(|(index, _)| (&occupied[index], &floor[index]));
        let unmet = remaining_on_path(path).iter().any(|(_, lacks)| lacks.is_positive());
        (!unmet, Reverse(tree.depth_of_fence(at)), at)
    }

    /// Brings queues down to their limits by what did not go for any queue, inner ones first.
    fn meet_limits(&mut self) {
        for at in self.limited() {
            let withdrawn = self.context.leaf(at).map(Leaf::withdrawn).unwrap_or_default();
            self.simulation.cover(&Scope::of_limit(at), Shortage::AboveLimit(at, &withdrawn));
        }
    }

    /// The queues with a limit, inner ones first.
    fn limited(&self) -> Vec<BranchId> {
        let branches = self.context.tree.branches.iter().rev();
        branches.filter(|(_, branch)| !branch.queue.limit.is_empty()).map(|(at, _)| at).collect()
    }

    /// Makes room for what is promised to a leaf: units that have room in the quota and do not exist yet, units that all that
    /// they lack is owed to, and claims. While victims leave it is for these, and nothing else is begun.
    fn back_promises(&mut self, at: BranchId, need: &Need<'a>) {
        // What is granted is taken, whether there are places for it or not.
        for units in &need.units {
            self.simulation.promise(at, units.pending.requests.times(units.granted));
        }
        for units in need.units.iter().copied() {
            let mark = self.simulation.mark();
            self.place_units(at, units, units.granted, Promise::Granted);
            // No quota grows for these: what is lent would let the same pods in again.
            self.taken.displaced.extend(self.simulation.victims_since(mark).map(|victim| victim.leaf));
            let owed = self.place_units(at, units, units.owed, Promise::Owed);
            self.count(at, units.place, units.granted.saturating_add(owed));
        }
        self.meet_claim(at, &need.claim_promised, &need.claim_owed, self.is_only_kept);
    }

    /// Serves what one leaf needs: units, then what it claims without pods.
    fn place(&mut self, at: BranchId, need: &Need<'a>) {
        let mut units = need.units.clone();
        let mut claimed = need.claim_lacking.clone();
        if self.is_under_way {
            // What was promised and does not come any more, with what completes it.
            let lost = self.context.granted.lost[at].plus(&need.part_owed);
            // What is begun of units is of use to no claim.
            claimed = claimed.min(&lost);
            let mut lost = lost.plus(&need.begun);
            for units in &mut units {
                units.lacking = units.pending.fitting(&lost).min(units.lacking);
                lost.subtract_all(&units.pending.requests.times(units.lacking));
            }
            claimed = claimed.min(&lost);
        }
        for units in units {
            let placed = self.place_units(at, units, units.lacking, Promise::None);
            self.count(at, units.place, placed);
        }
        self.meet_claim(at, &claimed, &claimed, false);
    }

    /// Counts so many units at `place` of what the leaf at `at` wants as asked for.
    fn count(&mut self, at: BranchId, place: usize, units: u32) {
        let asked = self.asked.entry(at).or_default();
        asked.resize(asked.len().max(place.saturating_add(1)), 0);
        asked.iter_mut().skip(place).take(1).for_each(|count| *count = count.saturating_add(units));
    }

    /// Makes room for `count` of `units`; for how many there is, or will be.
    ///
    /// For all at once, else for half of them: that takes the fewest pods, and few tries.
    fn place_units(&mut self, at: BranchId, units: Units<'a>, count: u32, promise: Promise) -> u32 {
        let pending = units.pending;
        let pods = pending.pods_of_one();
        let minimum = pending.surplus_of().and_then(|gang| self.incomplete.get(&(at, gang)).copied());
        if let Some(reason) = minimum.filter(|_| promise != Promise::Granted && count > 0) {
            self.report_unmet(at, pending, reason, count.saturating_mul(pods));
            return 0;
        }
        let (mut placed, mut together, mut evicts_for) = (0, count, 0);
        while placed < count {
            together = together.min(count.saturating_sub(placed));
            let mark = self.simulation.mark();
            match self.place_together(at, pending, together, promise) {
                Ok(()) => {
                    placed = placed.saturating_add(together);
                    let evicts = self.simulation.victims.len() > mark.victims;
                    evicts_for = if evicts { together.saturating_add(evicts_for) } else { evicts_for };
                }
                Err(reason) => {
                    self.simulation.undo(mark);
                    if together == 1 {
                        self.incomplete.extend(pending.completes().map(|gang| ((at, gang), reason)));
                        let unplaced = count.saturating_sub(placed).saturating_mul(pods);
                        self.report_unmet(at, pending, reason, unplaced);
                        break;
                    }
                    together /= 2;
                }
            }
        }
        if promise == Promise::Granted && evicts_for > 0 {
            let waiting = evicts_for.saturating_mul(pods);
            self.report_unmet(at, pending, ShortReason::WaitingForPreemption, waiting);
        }
        placed
    }

    /// Makes room for so many units, or says why that cannot be; what was done then has to be undone.
    fn place_together(
        &mut self,
        at: BranchId,
        pending: &PendingUnits<'a>,
        units: u32,
        promise: Promise,
    ) -> Result<(), ShortReason> {
        let is_only_kept = promise != Promise::None && self.is_only_kept;
        let mark = self.simulation.mark();
        let requests = pending.requests.times(units);
        let mut scope = self.scope(at, None, Some(pending.owner.priority));
        scope.may_evict &= !is_only_kept;
        scope.unit = (units == 1).then(|| self.simulation.next_unit(false));
        // What was granted of it before is not asked for again: it may be short of what no pod could give.
        let asked = match promise {
            Promise::Granted => requests,
            Promise::Owed | Promise::None => self.simulation.promise(at, requests),
        };
        // What was promised is kept wherever it is when the plan has no more looks for the queue.
        let is_looked_for = promise == Promise::None || !self.simulation.work.is_spent(Some(at));
        for (owner, pods) in pending.pods.iter().filter(|_| is_looked_for) {
            for _ in 0..pods.saturating_mul(units).min(self.pods_left) {
                let placed = self.simulation.place_pod(&owner.shape, &scope);
                if !is_only_kept {
                    placed.map_err(|reason| self.why(reason, &scope, &asked))?;
                } else if placed.is_err() {
                    break;
                }
            }
        }
        if is_only_kept {
            return Ok(());
        }
        if self.must_wait_for_nodes(&asked) {
            return Err(ShortReason::WaitingForNodes);
        }
        let bounds = self.bounds(at);
        for bound in &bounds {
            let scope = self.scope(at, *bound, Some(pending.owner.priority));
            let rest = self.simulation.cover(&scope, Shortage::Short(*bound, &asked));
            if !rest.is_empty() {
                return Err(self.what_keeps(&scope));
            }
        }
        self.simulation.reprieve(mark, &|simulation, back| {
            let mut shortages = bounds.iter().map(|bound| Shortage::Short(*bound, &asked));
            shortages.all(|shortage| simulation.lacks_at_most(shortage, back, &Amounts::new()))
        });
        // What is asked for beyond the most that a plan looks at is taken anywhere.
        self.pods_left = self.pods_left.saturating_sub(pending.pods_of_one().saturating_mul(units));
        Ok(())
    }

    /// Makes room for what is claimed without pods, and promises as much as there is, or will be. What is granted of it has
    /// arrived: only where some of `lacks` has no room does something stand in the way.
    fn meet_claim(&mut self, at: BranchId, claimed: &Amounts, lacks: &Amounts, is_only_kept: bool) {
        if claimed.is_empty() || (!is_only_kept && self.must_wait_for_nodes(&Amounts::new())) {
            return;
        }
        // What is guaranteed comes in whole pods of others if need be.
        let (meets_guarantee, ..) = self.turn(at);
        self.simulation.promise(at, claimed.clone());
        let mut rest = Amounts::new();
        for bound in self.bounds(at).into_iter().filter(|_| !is_only_kept) {
            let scope = self.scope(at, bound, None);
            let scope = Scope { spares_targets: meets_guarantee, ..scope };
            let short = self.simulation.cover(&scope, Shortage::Short(bound, claimed));
            if short.overlaps(lacks) {
                let reason = self.what_keeps(&scope);
                self.taken.obstacles.insert(at, reason);
            }
            rest = rest.max(&short);
        }
        // No more is promised than will come.
        self.simulation.promise(at, rest.min(claimed).times(-1));
    }

    /// What is short of `requests` everywhere.
    pub(super) fn is_short_of(&self, requests: &Amounts) -> Amounts {
        self.simulation.lacking(Shortage::Short(None, requests))
    }

    /// Whether pods wait for nodes that may be added, and so would this.
    fn must_wait_for_nodes(&self, requests: &Amounts) -> bool {
        let expandable = &self.context.snapshot.settings.expandable;
        self.waits_for_nodes && self.is_short_of(requests).overlaps(expandable)
    }

    /// Whether no pod is evicted for the queue at `at` yet, whatever it asks for.
    fn is_delayed(&self, at: BranchId) -> bool {
        self.context.tree.branches[at].queue.is_delayed(self.context.snapshot.now)
    }

    /// The limits above the leaf at `at`, inner ones first, and the cluster.
    fn bounds(&self, at: BranchId) -> Vec<Option<BranchId>> {
        let path = self.context.tree.path_up(at);
        let above = path.filter(|(_, branch)| branch.limits_below().next().is_some());
        above.map(|(index, _)| Some(index)).chain([None]).collect()
    }

    /// What is taken for the leaf at `at`, or for a pod of it of this `priority`: inside its fence, and inside the queue whose
    /// limit bounds it.
    pub(super) fn scope(&self, at: BranchId, bound: Option<BranchId>, priority: Option<i32>) -> Scope {
        let is_compared = self.context.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let fence = self.context.tree.fence_above(at);
        // Both are on the same path: the lower one is inside the other.
        let inside = fence.into_iter().chain(bound).max();
        Scope {
            beneficiary: Some(at),
            may_evict: !self.is_delayed(at),
            inside,
            priority: priority.filter(|_| is_compared),
            reason: EvictionReason::Reclaimed,
            ..Scope::of_limit(at)
        }
    }

    /// What keeps pods of the nodes that would have helped, if a rule does; else `reason`.
    fn why(&self, reason: ShortReason, scope: &Scope, requests: &Amounts) -> ShortReason {
        if reason != ShortReason::Fragmented {
            return reason;
        }
        match self.what_keeps(scope) {
            rule @ (ShortReason::Blocked | ShortReason::Guarantee | ShortReason::Delayed) => rule,
            // There is not enough inside the fence, whatever node it is on.
            ShortReason::Fenced if !self.is_short_of(requests).is_empty() => ShortReason::Fenced,
            _ => reason,
        }
    }

    /// What keeps pods that would have helped, if it is more than that there are none.
    fn what_keeps(&self, scope: &Scope) -> ShortReason {
        let kept_by = |rules: &[KeptReason]| {
            let inside =
                self.simulation.passed_over.iter().filter(|(at, _)| self.simulation.gives(**at, scope));
            inside.flat_map(|(_, kept)| kept).any(|(_, reason)| rules.contains(reason))
        };
        if kept_by(&[KeptReason::Budget, KeptReason::EvictionRefused]) {
            ShortReason::Blocked
        } else if kept_by(&[KeptReason::Guarantee]) {
            ShortReason::Guarantee
        } else if !scope.may_evict {
            ShortReason::Delayed
        } else if scope.beneficiary.is_some_and(|at| self.context.tree.fence_above(at).is_some()) {
            ShortReason::Fenced
        } else {
            ShortReason::NothingToEvict
        }
    }

    fn report_unmet(&mut self, at: BranchId, pending: &PendingUnits<'a>, reason: ShortReason, pods: u32) {
        let expandable = &self.context.snapshot.settings.expandable;
        if reason == ShortReason::Fragmented && pending.requests.overlaps(expandable) {
            // A node may be added once the pods are there.
            return;
        }
        if reason != ShortReason::NoNodeFits {
            self.taken.obstacles.insert(at, reason);
        }
        let Some((owner, _)) = pending.pods.first() else { return };
        self.report(at, Preemptor::of(pending.owner), reason, pods, &owner.shape);
    }

    /// Says why so many pods of `shape` wait.
    pub(super) fn report(
        &mut self,
        at: BranchId,
        preemptor: Preemptor,
        reason: ShortReason,
        pods: u32,
        shape: &Shape,
    ) {
        let reported = self.taken.unmet.entry(at).or_default();
        let place = *self.reported.entry((at, preemptor.clone(), reason)).or_insert(reported.len());
        if let Some(same) = reported.get_mut(place) {
            same.pods = same.pods.saturating_add(pods);
            return;
        }
        reported.push(Unmet::new(preemptor, pods, shape, reason));
    }

    /// Lets victims stay that turned out not to be needed: others went later, and make as much room.
    fn reprieve_since(&mut self, start: Mark) {
        let (capacity, nothing) = (self.context.capacity, Amounts::new());
        let below = self.limited().into_iter();
        let below =
            below.flat_map(|at| [Shortage::Short(Some(at), capacity), Shortage::AboveLimit(at, &nothing)]);
        let shortages = std::iter::once(Shortage::Short(None, capacity)).chain(below);
        let rests: Vec<(Shortage<'_>, Amounts)> =
            shortages.map(|shortage| (shortage, self.simulation.lacking(shortage))).collect();
        self.simulation.reprieve(start, &|simulation, back| {
            rests.iter().all(|(shortage, rest)| simulation.lacks_at_most(*shortage, back, rest))
        });
    }

    fn finish(mut self) -> ReclaimResult {
        let givers: BTreeSet<BranchId> =
            self.simulation.victims.iter().map(|victim| victim.candidate.leaf).collect();
        for at in givers {
            let Some(queue_state) = self.context.queue_state(at) else { continue };
            let staying = &self.simulation.staying[at];
            self.taken.lacking.insert(at, queue_state.need(staying, &Amounts::new(), &[]).lacking);
            // What is lent to a queue whose pods go would only let in others in their place.
            let others = queue_state.allocated.less(&queue_state.allocated.of(self.context.resources));
            let lowered = queue_state.allocated.min(&queue_state.firm.max(staying)).max(&others);
            self.taken.lowered.insert(at, lowered);
        }
        let owed = |leaf: &Leaf<'_>| (leaf.at, self.simulation.owed(leaf.at));
        self.taken.owed = self.context.each_leaf().map(owed).filter(|(_, owed)| !owed.is_empty()).collect();
        self.taken.evict(&self.simulation);
        self.taken.pass_over(self.simulation);
        self.taken
    }
}

/// What a unit was promised before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// It has room in the quota.
    Granted,
    /// What it lacks was freed for it, or is being freed.
    Owed,
    None,
}
