//! Which pods may go for a pending pod or a claim.

use std::collections::BTreeMap;

use super::simulation::{PlacedUnit, Simulation};
use crate::amounts::{Amounts, Resource};
use crate::candidates::Candidate;
use crate::guarantee::preemptable;
use crate::reasons::{EvictionReason, KeptReason};
use crate::snapshot::Pod;
use crate::total::total;
use crate::tree::BranchId;

/// Which victims may go.
pub(crate) trait Rules<'a> {
    /// Which of `victims`, in this order, may go together for what is `needed`.
    fn may_go(
        &self,
        simulation: &mut Simulation<'a>,
        victims: &[Candidate<'a>],
        needed: &Amounts,
    ) -> Vec<bool>;

    /// Whether `victim` may go by itself.
    fn may_go_alone(
        &self,
        simulation: &mut Simulation<'a>,
        victim: &Candidate<'a>,
        needed: &Amounts,
    ) -> bool {
        self.may_go(simulation, std::slice::from_ref(victim), needed) == [true]
    }
}

/// The queue that an eviction makes room for, and the queues that lose pods to it.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    /// The leaf that gains; none where a limit is exceeded.
    pub(super) beneficiary: Option<BranchId>,
    /// Whether pods go at all, or only what is free serves it.
    pub(super) may_evict: bool,
    /// The queue inside which pods are taken; none for the whole cluster.
    pub(super) inside: Option<BranchId>,
    /// The highest priority that victims may have, if priorities are compared.
    pub(super) priority: Option<i32>,
    /// Whether pods go that their own queues may have, above what these are guaranteed.
    pub(super) within_target: bool,
    /// Whether no queue goes below its target: a claim without pods comes in no units, so a part of it serves as well.
    pub(super) spares_targets: bool,
    pub(super) reason: EvictionReason,
    /// What needs places on nodes, if it is of use only together; none for pods each of which is of use by itself.
    pub(super) unit: Option<PlacedUnit>,
}

impl Scope {
    /// Where the limit of the queue at `at` is exceeded.
    pub(super) const fn of_limit(at: BranchId) -> Self {
        Self {
            beneficiary: None,
            may_evict: true,
            inside: Some(at),
            priority: None,
            within_target: false,
            spares_targets: false,
            reason: EvictionReason::Overcommitted,
            unit: None,
        }
    }

    /// Whether it is the limit of the queue at `at` that is exceeded.
    pub(super) fn is_own_limit(&self, at: BranchId) -> bool {
        self.beneficiary.is_none() && self.inside == Some(at)
    }
}

/// What is reclaimed, and in which scope.
#[derive(Clone, Copy)]
pub(super) struct Reclaimed<'s> {
    pub(super) scope: &'s Scope,
    pub(super) amounts: &'s Amounts,
}

/// Between queues: the victims have not been chosen, their queues hold too much of something that is lacking (or, within targets,
/// more than they are guaranteed), no guarantee is touched and budgets allow it.
impl<'a> Rules<'a> for Scope {
    fn may_go(
        &self,
        simulation: &mut Simulation<'a>,
        victims: &[Candidate<'a>],
        needed: &Amounts,
    ) -> Vec<bool> {
        let mut taken: BTreeMap<BranchId, (Amounts, Vec<Candidate<'a>>)> = BTreeMap::new();
        let (reclaimed, mut verdicts) = (Reclaimed { scope: self, amounts: needed }, Vec::new());
        for candidate in victims {
            let (already, beside) = taken.entry(candidate.leaf).or_default();
            let (already, mut together) = (already.clone(), beside.clone());
            let verdict = simulation.verdict(candidate, &already, &mut together, reclaimed);
            if let Ok(with) = &verdict {
                taken.insert(candidate.leaf, (with.clone(), together));
            }
            if let (1, Err(Some(rule))) = (victims.len(), &verdict) {
                simulation.keep(candidate.leaf, candidate.pods().iter().copied(), *rule);
            }
            verdicts.push(verdict.is_ok());
        }
        verdicts
    }
}

impl<'a> Simulation<'a> {
    /// Whether the leaf at `at` may give.
    pub(super) fn gives(&self, at: BranchId, scope: &Scope) -> bool {
        scope.may_evict
            && scope.beneficiary != Some(at)
            && scope.inside.is_none_or(|top| self.context.tree.is_below(at, top))
            && self.context.leaf(at).is_some_and(|leaf| !leaf.never_evicted)
    }

    /// Whether a rule keeps `pod` from going in this scope, whatever else goes.
    pub(super) fn rule(&self, pod: &Pod, scope: &Scope) -> Option<KeptReason> {
        if !self.context.usage.frees_room(pod) {
            return Some(KeptReason::NodeNotCounted);
        }
        scope.priority.filter(|most| pod.priority > *most).map(|_| KeptReason::PriorityAboveAsk)
    }

    /// Whether taking `takes` more from the leaf at `at` touches no guarantee of `reclaimed`, or of what is asked for and short:
    /// its own, or one of a queue above it. What moves inside a queue takes nothing from it.
    pub(super) fn is_spare(
        &self,
        at: BranchId,
        takes: impl FnOnce() -> Amounts,
        reclaimed: Reclaimed<'_>,
    ) -> bool {
        let (tree, scope) = (self.context.tree, reclaimed.scope);
        let gains = |index: BranchId| scope.beneficiary.is_some_and(|gains| tree.is_below(gains, index));
        let contested = scope.beneficiary.map(|beneficiary| &self.contested[beneficiary]);
        let is_reclaimed = |one: &Resource| {
            reclaimed.amounts.get(one).is_positive()
                || contested.is_some_and(|contested| contested.get(one).is_positive())
        };
        let guaranteed = tree.path_up(at).filter(|(index, _)| !self.floor[*index].is_empty());
        let mut guaranteed = guaranteed.filter(|(index, _)| !gains(*index)).peekable();
        if guaranteed.peek().is_none() {
            return true;
        }
        let takes = takes();
        guaranteed.all(|(index, _)| {
            let used = if index == at { &self.staying[index] } else { &self.free.sums[index] };
            let spare = preemptable(&used.less(&self.uncounted[index]), &self.floor[index]);
            let mut guaranteed = self.floor[index].iter().filter(|(_, floor)| floor.is_positive());
            guaranteed.all(|(one, _)| !is_reclaimed(one) || takes.get(one) <= spare.get(one))
        })
    }

    /// What the leaf of `candidate` loses with it, of what counts as demand.
    pub(super) fn counted(&self, candidate: &Candidate<'a>) -> Amounts {
        let trust = self.context.leaf(candidate.leaf).map(|leaf| &leaf.demand.trust);
        let counts = |pod: &&Pod| !self.gone.contains(pod) && trust.is_none_or(|trust| trust.counts(pod));
        total(candidate.everything().filter(counts).map(Pod::requests))
    }

    /// What the leaf of `candidate` loses with it beside what it loses `already`; or the rule that keeps the candidate, if
    /// it is one to report.
    fn verdict(
        &mut self,
        candidate: &Candidate<'a>,
        already: &Amounts,
        beside: &mut Vec<Candidate<'a>>,
        reclaimed: Reclaimed<'_>,
    ) -> Result<Amounts, Option<KeptReason>> {
        let (at, scope) = (candidate.leaf, reclaimed.scope);
        if !self.gives(at, scope) || self.is_gone(candidate) {
            return Err(None);
        }
        // A victim that its queue's target has room for again once all are gone would come back.
        let others = total(beside.iter().map(Candidate::all_requests));
        let stays_above = |one: &Candidate<'a>| {
            let others = others.plus(&candidate.all_requests()).less(&one.all_requests());
            self.is_above_target(one, &others, reclaimed)
        };
        if !self.is_above_target(candidate, &others, reclaimed) || !beside.iter().all(stays_above) {
            return Err(None);
        }
        if let Some(rule) = candidate.pods().iter().find_map(|pod| self.rule(pod, scope)) {
            return Err(Some(rule).filter(|rule| *rule == KeptReason::PriorityAboveAsk));
        }
        let with = already.plus(&self.counted(candidate));
        if !self.is_spare(at, || with.clone(), reclaimed) {
            return Err(Some(KeptReason::Guarantee));
        }
        beside.push(candidate.clone());
        let is_allowed = self.budgets_allow(at, beside).last() == Some(&true);
        if is_allowed { Ok(with) } else { Err(Some(KeptReason::Budget)) }
    }

    /// Which of `victims` may go by the budgets of the leaf at `at`, one after the other.
    pub(crate) fn budgets_allow(&mut self, at: BranchId, victims: &[Candidate<'a>]) -> Vec<bool> {
        let gone = std::mem::take(&mut self.gone);
        let allowed = self.budgets(at).map(|budgets| budgets.allow(victims, &gone));
        self.gone = gone;
        allowed.unwrap_or_default()
    }

    /// Whether the leaf of `candidate` holds more of something `reclaimed` than its target once `others` are gone, and
    /// `candidate` some of it.
    ///
    /// A gang cannot do without its minimum: that is above the target only as far as its surplus is not all that is.
    fn is_above_target(&self, candidate: &Candidate<'a>, others: &Amounts, reclaimed: Reclaimed<'_>) -> bool {
        let mut gone = others.clone();
        let followers = candidate.followers().iter().filter(|pod| !self.gone.contains(pod));
        followers.for_each(|pod| gone.add_all(pod.requests()));
        let helps = |one: &Resource| candidate.pods().iter().any(|pod| pod.requests().get(one).is_positive());
        let is_above = |one: &Resource| {
            reclaimed.scope.within_target || self.over_on_nodes(candidate.leaf, one) > gone.get(one)
        };
        reclaimed.amounts.resources().any(|one| helps(one) && is_above(one))
    }
}
