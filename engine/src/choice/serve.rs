//! Serving asks one after the other, each wholly or at no cost to others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::outcome::Taken;
use super::party::Need;
use super::rules::Errand;
use super::simulation::Simulation;
use super::{Case, Party};
use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::first_patience;
use crate::leaf::Wanted;
use crate::plan::Unmet;
use crate::reason::Reason;
use crate::snapshot::VictimPriority;
use crate::tree::Index;

/// How often queues are served that lost more than they had too much.
const MOST_ROUNDS: usize = 8;

/// How many pods a plan looks for nodes for: one owner may ask for two thousand million.
const MOST_PLACED: u32 = 20_000;

/// The pods to evict, and what their going is promised to.
///
/// None while nothing may be taken.
pub(crate) fn evictions(case: Case<'_>) -> Taken {
    let mut taken = Taken::default();
    let needs: BTreeMap<Index, Need<'_>> = case.leaves().map(|(at, party)| (at, party.need(party.staying(), party.owed))).collect();
    taken.lacking = needs.iter().map(|(at, need)| (*at, need.lacking.clone())).collect();
    taken.owed = case.leaves().map(|(at, party)| (at, party.owed.clone())).collect();
    if case.snapshot.destruction.held().is_some() {
        return taken;
    }
    let simulation = Simulation::new(case);
    let waits_for_nodes = first_patience(case.snapshot, case.census).is_some();
    let is_under_way = case.is_under_way();
    Service { simulation, case, waits_for_nodes, is_under_way, pods_left: MOST_PLACED, taken }.run(&needs)
}

/// Asks while they are served.
pub(super) struct Service<'a> {
    pub(super) simulation: Simulation<'a>,
    pub(super) case: Case<'a>,
    /// Whether pods wait for nodes that may be added: then what there is too little of evicts no pod.
    waits_for_nodes: bool,
    /// Whether what was chosen before is on its way: then only as much is asked for as was promised then.
    pub(super) is_under_way: bool,
    pods_left: u32,
    pub(super) taken: Taken,
}

impl<'a> Service<'a> {
    fn run(mut self, needs: &BTreeMap<Index, Need<'a>>) -> Taken {
        let asks = needs.values().any(|need| !need.units.is_empty());
        let stuck = self.case.leaves().any(|(_, party)| party.headcount.stuck);
        let stuck = if asks || stuck { self.simulation.look_at_nodes() } else { Vec::new() };
        for need in needs.values() {
            for (wanted, units) in need.coming.iter().chain(&need.owed) {
                self.reserve(wanted, *units);
            }
        }
        if !self.is_under_way {
            self.meet_limits();
        }
        self.serve_stuck(stuck);
        let mut order: Vec<Index> = needs.keys().copied().collect();
        order.sort_by_key(|at| self.turn(*at));
        // A whole pod may be more than its queue has too much; what it lacks then is part of its claim.
        for _ in 0..MOST_ROUNDS {
            let mark = self.simulation.victims.len();
            if !self.is_under_way {
                order.iter().for_each(|at| self.back_promises(*at));
            }
            for at in order {
                self.serve(at);
            }
            let losers = self.simulation.victims.iter().skip(mark).map(|victim| victim.at);
            order = losers.collect::<BTreeSet<Index>>().into_iter().collect();
            if order.is_empty() {
                break;
            }
        }
        self.finish()
    }

    /// In which order leaves are served: those below their guarantees first, then those behind a fence, which can take from
    /// few.
    fn turn(&self, at: Index) -> (bool, bool, Reverse<usize>, Index) {
        let fence = self.case.tree.fence_above(at);
        let depth = fence.map_or(0, |fence| self.case.tree.path_up(fence).count());
        let unmet = self.case.party(at).is_some_and(|party| {
            let settled = party.settled();
            let guaranteed = party.queue.guaranteed.iter();
            guaranteed.into_iter().any(|(one, amount)| settled.get(one) < amount.min(party.target.get(one)))
        });
        (!unmet, fence.is_none(), Reverse(depth), at)
    }

    /// Takes the room of pods that are about to be created.
    fn reserve(&mut self, wanted: &Wanted<'a>, units: u32) {
        for (shape, pods) in &wanted.pods {
            for _ in 0..pods.saturating_mul(units).min(self.pods_left) {
                let Some(rooms) = &mut self.simulation.rooms else { return };
                if rooms.reserve(shape).is_none() {
                    break;
                }
            }
        }
    }

    /// Brings queues down to their limits: their own first, then those above.
    fn meet_limits(&mut self) {
        for (at, party) in self.case.leaves() {
            let above: Amounts =
                self.case.resources.iter().map(|one| (one.clone(), party.above_limit(one))).collect();
            if above.is_empty() {
                continue;
            }
            let bound = party.staying().less(&above);
            let errand = Errand {
                taker: None,
                may_take: true,
                inside: Some(at),
                priority: None,
                within_target: false,
                reason: Reason::Overcommitted,
            };
            let resources: Vec<Resource> = above.resources().cloned().collect();
            self.simulation.cover(&errand, &|simulation| {
                let staying = simulation.staying.get(at).cloned().unwrap_or_default();
                resources.iter().map(|one| (one.clone(), staying.get(one).less(bound.get(one)))).collect()
            });
        }
        for at in (0..self.case.tree.branches.len()).rev() {
            let Some(branch) = self.case.tree.branches.get(at).filter(|branch| !branch.is_leaf()) else { continue };
            let limited: Amounts = branch.queue.limit.iter().map(|(one, _)| (one.clone(), Amount::new(1))).collect();
            let limited = limited.of(self.case.resources);
            if !self.simulation.short(Some(at), &limited).is_empty() {
                let errand = Errand {
                    taker: None,
                    may_take: true,
                    inside: Some(at),
                    priority: None,
                    within_target: false,
                    reason: Reason::Overcommitted,
                };
                self.simulation.cover(&errand, &|simulation| simulation.short(Some(at), &limited));
            }
        }
    }

    /// Makes room for what was granted to units that are not there yet, and to claims, where pods above other targets hold it.
    fn back_promises(&mut self, at: Index) {
        let Some(party) = self.case.party(at).filter(|party| self.hindrance(party).is_none()) else { return };
        let nothing = Amounts::new();
        let staying = self.simulation.staying.get(at).unwrap_or(&nothing);
        let need = party.need(staying, self.taken.owed.get(&at).unwrap_or(&nothing));
        let mut granted = Amounts::new();
        for (wanted, units) in &need.coming {
            granted.add_all(&wanted.requests.times(*units));
        }
        granted = granted.max(&party.firm.less(staying).min(&party.unused_claim(staying)));
        if granted.is_empty() || self.simulation.short(None, &granted).is_empty() {
            return;
        }
        // Pods that wait for a node would take what is granted, so all that is too much goes, those first.
        let errand = self.errand(at, None, None, Reason::Overcommitted);
        self.simulation.cover(&errand, &|simulation| simulation.short(None, &granted));
    }

    /// Serves what one leaf needs: units by priority and size, largest first, then what it claims without pods.
    fn serve(&mut self, at: Index) {
        let Some(party) = self.case.party(at) else { return };
        let nothing = Amounts::new();
        let staying = self.simulation.staying.get(at).unwrap_or(&nothing);
        let owed = self.taken.owed.get(&at).unwrap_or(&nothing);
        let mut need = party.need(staying, owed);
        if self.is_under_way {
            let promised = party.state.quota.as_ref().map(|quota| quota.owed.clone()).unwrap_or_default();
            need.limit(&promised.less(owed));
        }
        if need.units.is_empty() && need.claimed.is_empty() {
            return;
        }
        if let Some(reason) = self.hindrance(party) {
            self.taken.obstacles.insert(at, reason);
        }
        let mut units = need.units.clone();
        units.sort_by_key(|(wanted, _)| Reverse((wanted.priority, size(&wanted.requests, self.case.capacity))));
        let mut begun = Begun { granted: need.begun.clone(), owed: need.begun_owed.clone() };
        for (wanted, count) in units {
            self.serve_units(at, wanted, count, &mut begun);
        }
        // A part of a unit that cannot be completed is of no use.
        self.simulation.release(at, &begun.owed);
        if let Some(owed) = self.taken.owed.get_mut(&at) {
            *owed = owed.less(&begun.owed);
        }
        self.serve_claim(at, &need.claimed);
    }

    fn serve_units(&mut self, at: Index, wanted: &Wanted<'a>, count: u32, begun: &mut Begun) {
        for served in 0..count {
            let mark = self.simulation.mark();
            let lacks = wanted.requests.less(&begun.granted).less(&begun.owed);
            if let Err(reason) = self.serve_unit(at, wanted, &lacks) {
                self.simulation.undo(mark);
                let pods: u32 = wanted.pods.iter().map(|(_, pods)| *pods).fold(0, u32::saturating_add);
                self.tell(at, wanted, reason, count.saturating_sub(served).saturating_mul(pods));
                return;
            }
            begun.use_for(&wanted.requests);
            self.taken.owed.entry(at).or_default().add_all(&lacks);
        }
    }

    /// Makes room for one unit of which so much is lacking, or says why that cannot be; what was done then has to be undone.
    fn serve_unit(&mut self, at: Index, wanted: &Wanted<'a>, lacks: &Amounts) -> Result<(), Reason> {
        let limited = self.case.snapshot.settings.victim_priority == VictimPriority::NotAboveAsk;
        let priority = limited.then_some(wanted.priority);
        let mark = self.simulation.mark();
        let errand = self.errand(at, None, priority, Reason::Reclaimed);
        for (shape, pods) in &wanted.pods {
            for _ in 0..*pods {
                // What is asked for beyond is taken anywhere.
                self.pods_left = self.pods_left.saturating_sub(1);
                if self.pods_left > 0 {
                    self.simulation.place_pod(shape, &errand).map_err(|reason| self.why(reason, &errand))?;
                }
            }
        }
        self.simulation.promise(at, lacks.clone());
        if self.must_wait_for_nodes(lacks) {
            return Err(Reason::WaitingForNodes);
        }
        for bound in self.bounds(at) {
            let errand = self.errand(at, bound, priority, Reason::Reclaimed);
            let rest = self.simulation.cover(&errand, &|simulation| simulation.short(bound, lacks));
            if !rest.is_empty() {
                return Err(self.what_keeps(&errand));
            }
        }
        let bounds = self.bounds(at);
        self.simulation.reprieve(mark, &|simulation| {
            bounds.iter().all(|bound| simulation.short(*bound, lacks).is_empty())
        });
        Ok(())
    }

    fn serve_claim(&mut self, at: Index, claimed: &Amounts) {
        if claimed.is_empty() || self.must_wait_for_nodes(&Amounts::new()) {
            return;
        }
        self.simulation.promise(at, claimed.clone());
        let mut rest = Amounts::new();
        for bound in self.bounds(at) {
            let errand = self.errand(at, bound, None, Reason::Reclaimed);
            let short = self.simulation.cover(&errand, &|simulation| simulation.short(bound, claimed));
            if !short.is_empty() {
                let reason = self.what_keeps(&errand);
                self.taken.obstacles.insert(at, reason);
            }
            rest = rest.max(&short);
        }
        // No more is owed than will come.
        let waived = rest.min(claimed);
        self.simulation.waive(at, &waived);
        let owed = self.taken.owed.entry(at).or_default();
        owed.add_all(&claimed.less(&waived));
    }

    /// Whether pods wait for nodes that may be added, and so would this.
    fn must_wait_for_nodes(&self, requests: &Amounts) -> bool {
        let expandable = &self.case.snapshot.settings.expandable;
        let short = self.simulation.short(None, requests);
        self.waits_for_nodes && short.overlaps(expandable)
    }

    /// What keeps pods from being evicted for a queue now, whatever it asks for.
    fn hindrance(&self, party: &Party<'_>) -> Option<Reason> {
        party.queue.is_delayed(self.case.snapshot.now).then_some(Reason::Delayed)
    }

    /// The limits above the leaf at `at`, inner ones first, and the cluster.
    fn bounds(&self, at: Index) -> Vec<Option<Index>> {
        let above = self.case.tree.path_up(at).filter(|(_, branch)| !branch.is_leaf() && !branch.queue.limit.is_empty());
        above.map(|(index, _)| Some(index)).chain([None]).collect()
    }

    /// What is taken for the leaf at `at`: inside its fence, and inside the queue whose limit bounds it.
    pub(super) fn errand(&self, at: Index, bound: Option<Index>, priority: Option<i32>, reason: Reason) -> Errand {
        let fence = self.case.tree.fence_above(at);
        // Both are on the same path: the lower one is inside the other.
        let inside = fence.into_iter().chain(bound).max();
        let may_take = self.case.party(at).is_some_and(|party| self.hindrance(party).is_none());
        Errand { taker: Some(at), may_take, inside, priority, within_target: false, reason }
    }

    /// What keeps pods of the nodes that would have helped, if a rule does; else `reason`.
    fn why(&self, reason: Reason, errand: &Errand) -> Reason {
        match self.what_keeps(errand) {
            rule @ (Reason::Blocked | Reason::Guarantee | Reason::Delayed) if reason == Reason::Fragmented => rule,
            _ => reason,
        }
    }

    /// What keeps pods that would have helped, if it is more than that there are none.
    fn what_keeps(&self, errand: &Errand) -> Reason {
        let kept_by = |rules: &[Reason]| {
            let inside = self.simulation.kept.iter().filter(|(at, _)| self.simulation.gives(**at, errand));
            inside.flat_map(|(_, kept)| kept).any(|(_, reason)| rules.contains(reason))
        };
        if kept_by(&[Reason::Budget, Reason::EvictionRefused]) {
            Reason::Blocked
        } else if kept_by(&[Reason::Guarantee]) {
            Reason::Guarantee
        } else if !errand.may_take {
            Reason::Delayed
        } else if errand.taker.is_some_and(|at| self.case.tree.fence_above(at).is_some()) {
            Reason::Fenced
        } else {
            Reason::NothingToEvict
        }
    }

    fn tell(&mut self, at: Index, wanted: &Wanted<'a>, reason: Reason, pods: u32) {
        if reason != Reason::NoNodeFits {
            self.taken.obstacles.insert(at, reason);
        }
        let Some((shape, _)) = wanted.pods.first() else { return };
        self.taken.unmet.entry(at).or_default().push(Unmet {
            who: wanted.who.clone(),
            controller: None,
            pods,
            requests: shape.requests.clone(),
            reason,
            lowered: None,
            rejection: None,
            left_out: shape.left_out.clone(),
        });
    }

    fn finish(mut self) -> Taken {
        let ranks = self.simulation.ranks();
        let givers: BTreeSet<Index> = self.simulation.victims.iter().map(|victim| victim.at).collect();
        for at in givers {
            // What is lent to a queue whose pods go would only let in others in their place.
            let (Some(party), Some(staying)) = (self.case.party(at), self.simulation.staying.get(at)) else { continue };
            let others: Amounts = party.allocated.less(&party.allocated.of(self.case.resources));
            self.taken.lowered.insert(at, party.allocated.min(&party.firm.max(staying)).max(&others));
        }
        self.taken.evict(self.case, &self.simulation.victims, &ranks);
        let kept = std::mem::take(&mut self.simulation.kept);
        self.taken.pass_over(self.case.parties, kept);
        self.taken
    }
}

/// What is granted already of units that lack the rest, and what is owed of them.
struct Begun {
    granted: Amounts,
    owed: Amounts,
}

impl Begun {
    fn use_for(&mut self, requests: &Amounts) {
        let rest = requests.less(&self.granted);
        self.granted = self.granted.less(requests);
        self.owed = self.owed.less(&rest);
    }
}

/// How much of what there is `requests` come to, at most of any resource.
fn size(requests: &Amounts, capacity: &Amounts) -> i128 {
    let part = |(one, amount): (&Resource, Amount)| {
        amount.units().saturating_mul(1 << 20).checked_div(capacity.get(one).units()).unwrap_or(0)
    };
    requests.iter().map(part).max().unwrap_or(0)
}
