//! Covering what is short below a limit or everywhere: from the queues farthest above their targets, down to the next level.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::rules::{Reclaimed, Scope};
use super::simulation::{Mark, PlacedUnit, Simulation, Victim};
use super::sorted_tree::SortedTree;
use crate::amounts::{Amount, Amounts, Resource};
use crate::candidates::{Candidate, Candidates, select};
use crate::leaf::Leaf;
use crate::plan::Stage;
use crate::pod_set::PodSet;
use crate::reasons::{EvictionReason, KeptReason};
use crate::snapshot::Pod;
use crate::tree::BranchId;

/// The pods of all givers that go before any of the next kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    NotRunning,
    Others,
    Protected,
}

impl Kind {
    fn of(candidate: &Candidate<'_>) -> Self {
        match (candidate.protected, candidate.stage) {
            (true, _) => Self::Protected,
            (false, Stage::NotRunning) => Self::NotRunning,
            _ => Self::Others,
        }
    }
}

/// What is to be covered.
#[derive(Clone, Copy)]
pub(super) enum Shortage<'s> {
    /// What is short of some amounts below the limit of a queue, or everywhere.
    Short(Option<BranchId>, &'s Amounts),
    /// What pods below a queue hold above its limit, but for what its QueueJobs give back.
    AboveLimit(BranchId, &'s Amounts),
}

impl<'a> Simulation<'a> {
    /// What is lacking now.
    pub(super) fn lacking(&self, shortage: Shortage<'_>) -> Amounts {
        let mut lacking = Amounts::new();
        self.each_lacks(shortage, None, &mut |one, amount| {
            lacking.set(one, amount);
            true
        });
        lacking
    }

    /// Whether no more than `rest` would be lacking if the victim `back` stayed.
    pub(super) fn lacks_at_most(&self, shortage: Shortage<'_>, back: &Candidate<'a>, rest: &Amounts) -> bool {
        self.each_lacks(shortage, Some(back), &mut |one, amount| amount <= rest.get(one))
    }

    /// Whether what is lacking of each resource `suits`, now or if the victim `back` stayed.
    fn each_lacks(
        &self,
        shortage: Shortage<'_>,
        back: Option<&Candidate<'a>>,
        suits: &mut dyn FnMut(&Resource, Amount) -> bool,
    ) -> bool {
        let below = |top: BranchId| back.filter(|back| self.context.tree.is_below(back.leaf, top));
        match shortage {
            Shortage::Short(bound, asked) => {
                let everywhere = |one: &Resource| Some(self.free.everywhere.get(one));
                let left =
                    |one: &Resource| bound.map_or_else(|| everywhere(one), |at| self.free.below(at, one));
                let back = bound.map_or(back, below);
                let taken =
                    |one: &Resource| back.map(|back| self.would_occupy(back, one)).unwrap_or_default();
                let mut asked = asked.resources().filter_map(|one| Some((one, left(one)?)));
                asked.all(|(one, left)| suits(one, taken(one).less(left)))
            }
            Shortage::AboveLimit(at, withdrawn) => {
                let back = below(at);
                let held = |one: &Resource| back.map(|back| back.all_requests_of(one)).unwrap_or_default();
                let above = |one: &Resource, limit| (self.staying[at].get(one) + held(one)).less(limit);
                self.limits(at).all(|(one, limit)| suits(one, above(one, limit).less(withdrawn.get(one))))
            }
        }
    }

    /// Evicts pods until nothing is lacking, without those that turn out not to be needed. What still is lacking then.
    pub(super) fn cover(&mut self, scope: &Scope, shortage: Shortage<'_>) -> Amounts {
        let mark = self.mark();
        let amounts = &self.lacking(shortage);
        let (reclaimed, mut lacked) = (Reclaimed { scope, amounts }, amounts.clone());
        loop {
            for kind in [Kind::NotRunning, Kind::Others, Kind::Protected] {
                let lacks = self.lacking(shortage);
                if lacks.is_empty() {
                    break;
                }
                self.cover_with(kind, mark, reclaimed, &lacks, shortage);
            }
            let rest = self.lacking(shortage);
            let chosen = self.mark();
            // Whatever is covered stays covered.
            self.reprieve(mark, &|simulation, back| simulation.lacks_at_most(shortage, back, &rest));
            // What a pod that stays leaves of a budget may let another go.
            let again = self.mark() != chosen && rest != lacked;
            if rest.is_empty() || !again {
                return rest;
            }
            lacked = rest;
        }
    }

    /// Chooses pods of this kind; which victims since `mark` go is decided anew for each leaf that gives.
    fn cover_with(
        &mut self,
        kind: Kind,
        mark: Mark,
        reclaimed: Reclaimed<'_>,
        lacks: &Amounts,
        shortage: Shortage<'_>,
    ) {
        let mut givers = SortedTree::default();
        for leaf in self.context.each_leaf().filter(|leaf| self.gives(leaf.at, reclaimed.scope)) {
            if self.may_give_more(leaf, kind, reclaimed, lacks) {
                givers.sort(leaf.at, Some(self.as_giver(leaf.at)), self.context.tree, &self.above);
            }
        }
        let earlier = self.victims.split_off(mark.victims);
        let mut of_leaves: BTreeMap<BranchId, Vec<&Candidate<'a>>> = BTreeMap::new();
        for Victim { candidate, .. } in &earlier {
            of_leaves.entry(candidate.leaf).or_default().push(candidate);
        }
        let mut stock: BTreeMap<BranchId, Vec<Candidate<'a>>> = BTreeMap::new();
        let mut refused = PodSet::default();
        while let Some(((Reverse(is_above_a_limit), _), at)) = givers.first() {
            // Others below the same limit may have given meanwhile.
            if is_above_a_limit && givers.sort(at, Some(self.as_giver(at)), self.context.tree, &self.above) {
                continue;
            }
            let mut lacks = self.lacking(shortage);
            if lacks.is_empty() {
                break;
            }
            let mut has_more = true;
            if let Some(candidate) = stock.get_mut(&at).and_then(Vec::pop) {
                match self.allows(&candidate, reclaimed, &lacks) {
                    Ok(()) => self.take(candidate, reclaimed.scope.beneficiary, reclaimed.scope.reason, None),
                    Err(rule) => {
                        refused.extend(candidate.pods().iter().copied());
                        if let Some(rule) = rule {
                            self.keep(at, candidate.pods().iter().copied(), rule);
                        }
                    }
                }
            } else {
                if !stock.contains_key(&at) {
                    // Fewest of the most protected kind: with one of these, fewer of the others may do.
                    let back = of_leaves.remove(&at).unwrap_or_default();
                    back.into_iter().rev().for_each(|victim| self.shift(victim, true));
                    lacks = self.lacking(shortage);
                }
                let mut chosen = self.chosen(at, kind, reclaimed, &lacks, &refused);
                chosen.reverse();
                has_more = !chosen.is_empty();
                stock.insert(at, chosen);
            }
            givers.sort(at, has_more.then(|| self.as_giver(at)), self.context.tree, &self.above);
        }
        let since = self.victims.split_off(mark.victims);
        let go = earlier.into_iter().filter(|victim| !stock.contains_key(&victim.candidate.leaf));
        self.victims.extend(go.chain(since));
    }

    /// Whether the leaf may give other pods now than of the kind before.
    ///
    /// Of pods that all request the same it would be as many, unless one of this kind helps beside them.
    fn may_give_more(&self, leaf: &Leaf<'a>, kind: Kind, reclaimed: Reclaimed<'_>, lacks: &Amounts) -> bool {
        let candidates = leaf.candidates(self.context.snapshot);
        let of_this_kind = || up_to(kind, candidates).iter().rev().take_while(|one| Kind::of(one) == kind);
        let helps = |candidate: &Candidate<'a>| !self.takes_of_target(candidate, reclaimed);
        self.takes_of(leaf.at, reclaimed.scope).overlaps(lacks)
            && (kind == Kind::NotRunning || !candidates.are_alike || of_this_kind().any(helps))
    }

    /// What may be taken from the leaf at `at`.
    fn takes_of(&self, at: BranchId, scope: &Scope) -> &Amounts {
        // Above its own limit it does not matter what its target is.
        if scope.is_own_limit(at) { &self.staying[at] } else { &self.over[at] }
    }

    /// The fewest pods of this kind that cover what the leaf at `at` may give of `lacks`; the first goes first.
    fn chosen(
        &mut self,
        at: BranchId,
        kind: Kind,
        reclaimed: Reclaimed<'_>,
        lacks: &Amounts,
        refused: &PodSet,
    ) -> Vec<Candidate<'a>> {
        let (Some(leaf), scope) = (self.context.leaf(at), reclaimed.scope) else { return Vec::new() };
        let all = leaf.candidates(self.context.snapshot);
        let needed = self.takes_of(at, scope).min(lacks);
        if needed.is_empty() {
            return Vec::new();
        }
        self.work.spend(scope.beneficiary, u64::try_from(all.may_go.len()).unwrap_or(u64::MAX));
        let mut able = Vec::new();
        let mut kept: Vec<(&'a Pod, KeptReason)> = Vec::new();
        let mut last: Option<(&Amounts, bool)> = None;
        let all_are_left = self.staying[at] == leaf.staying && refused.is_empty();
        // Of pods that all request the same, the first that cover it do.
        let enough = all.first_to_cover(&needed);
        for candidate in up_to(kind, all) {
            if enough.is_some_and(|enough| able.len() >= enough) {
                break;
            }
            let is_left = |pod: &&Pod| !self.gone.contains(pod) && !refused.contains(pod);
            // Most pods beside each other share what they request.
            let requests = candidate.requests();
            let helps = match last.filter(|(same, _)| std::ptr::eq(*same, requests)) {
                Some((_, helps)) => helps,
                None => requests.overlaps(&needed) && !self.takes_of_target(candidate, reclaimed),
            };
            last = Some((requests, helps));
            if !helps || !(all_are_left || candidate.pods().iter().all(is_left)) {
                continue;
            }
            // Above its own limit it does not matter what others could use.
            let mut pods = candidate.pods().iter().filter(|_| !scope.is_own_limit(at));
            let rule = pods.find_map(|pod| self.rule(pod, scope));
            // What goes together is asked for when it is taken. Once that is refused, each is asked for here: else every one of
            // those that a budget protects would be chosen, refused and replaced by itself.
            let refused_alone =
                || (!refused.is_empty()).then(|| self.refusal(candidate, reclaimed)).flatten();
            match rule.or_else(refused_alone) {
                Some(rule) => kept.extend(candidate.pods().iter().map(|pod| (*pod, rule))),
                None => able.push(candidate.clone()),
            }
        }
        kept.extend(all.never.iter().filter(|(pod, _)| pod.requests().overlaps(&needed)).copied());
        for (pod, rule) in kept {
            self.keep(at, [pod], rule);
        }
        if enough.is_some() { able } else { select(able, &needed, self.context.capacity) }
    }

    /// Whether `candidate` may go after all that went before; else the rule, if one keeps it.
    fn allows(
        &mut self,
        candidate: &Candidate<'a>,
        reclaimed: Reclaimed<'_>,
        lacks: &Amounts,
    ) -> Result<(), Option<KeptReason>> {
        let takes = self.takes_of(candidate.leaf, reclaimed.scope);
        let helps =
            |one: &Resource| candidate.requests().get(one).is_positive() && takes.get(one).is_positive();
        if !lacks.resources().any(helps) {
            return Err(None);
        }
        if let Some(rule) = self.refusal(candidate, reclaimed) {
            return Err(Some(rule));
        }
        if self.takes_of_target(candidate, reclaimed) { Err(None) } else { Ok(()) }
    }

    /// Why `candidate` may not go now, if it may not: it takes of a guarantee, or a budget protects it.
    fn refusal(&mut self, candidate: &Candidate<'a>, reclaimed: Reclaimed<'_>) -> Option<KeptReason> {
        let at = candidate.leaf;
        if !self.is_spare(at, || self.counted(candidate), reclaimed) {
            return Some(KeptReason::Guarantee);
        }
        let is_allowed = self.budgets_allow(at, std::slice::from_ref(candidate)) == [true];
        (!is_allowed).then_some(KeptReason::Budget)
    }

    /// Whether `candidate` takes a part of the target of its leaf where targets are spared.
    fn takes_of_target(&self, candidate: &Candidate<'a>, reclaimed: Reclaimed<'_>) -> bool {
        let Reclaimed { scope, amounts } = reclaimed;
        if !scope.spares_targets {
            return false;
        }
        let (all, takes) = (candidate.requests(), self.takes_of(candidate.leaf, scope));
        // What is above a limit goes anyway.
        amounts.resources().any(|one| all.get(one) > takes.get(one)) && !self.is_above_a_limit(candidate.leaf)
    }

    /// Removes `candidate` with all that go with it, unless it went with another one. `unit` gets its room on its node.
    pub(crate) fn take(
        &mut self,
        candidate: Candidate<'a>,
        beneficiary: Option<BranchId>,
        reason: EvictionReason,
        unit: Option<PlacedUnit>,
    ) {
        if self.is_gone(&candidate) {
            return;
        }
        let followers = candidate.followers().iter().filter(|pod| !self.gone.contains(pod));
        let followers: Vec<Candidate<'a>> = followers.map(|pod| candidate.follower(pod)).collect();
        // They leave first, so the one that is asked first whether it can stay is the one that they go with.
        for one in followers.into_iter().chain(std::iter::once(candidate)) {
            self.shift(&one, false);
            self.victims.push(Victim { candidate: one, beneficiary, reason, unit });
        }
    }
}

/// Those of this kind and of all before it.
fn up_to<'c, 'a>(kind: Kind, all: &'c Candidates<'a>) -> &'c [Candidate<'a>] {
    if all.may_go.last().is_some_and(|last| Kind::of(last) <= kind) {
        return &all.may_go;
    }
    let count = all.may_go.partition_point(|candidate| Kind::of(candidate) <= kind);
    all.may_go.get(..count).unwrap_or_default()
}
