//! The books of one reclaim: what is still too much, what is guaranteed, what budgets allow, and who was chosen.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::Party;
use super::balance::Balance;
use super::budgets::Budgets;
use super::candidate::Candidate;
use super::candidates::{Candidates, candidates};
use super::guarantees::Guarantees;
use super::nodes::Resident;
use super::select::{drop_unneeded, select};
use super::victim::Victim;
use crate::amounts::{Amount, Amounts, Resource};
use crate::names::PodUid;
use crate::reason::Reason;
use crate::snapshot::{Phase, Pod, Shape, Snapshot};
use crate::tree::{Index, Tree};

/// The pods of one leaf, sorted when somebody first wants to take from it.
#[derive(Clone)]
pub(super) struct Source<'a> {
    pub(super) candidates: Candidates<'a>,
    budgets: Budgets<'a>,
}

/// What changes while victims are chosen.
#[derive(Clone)]
pub(super) struct Books<'a> {
    snapshot: &'a Snapshot,
    tree: &'a Tree<'a>,
    parties: &'a [Option<Party<'a>>],
    /// What there is of each resource.
    pub(super) scale: &'a Amounts,
    pub(super) balance: Balance,
    guarantees: Guarantees,
    sources: BTreeMap<Index, Source<'a>>,
    pub(super) chosen: HashSet<PodUid>,
    /// The victims so far, in the order of their choice.
    pub(super) victims: Vec<Victim<'a>>,
    /// What pods without a node hold in each leaf: they go first, and leave no node any room.
    unbound: Vec<Amounts>,
    /// The branches that somebody below is short: what moves inside them does not leave them.
    takers: HashSet<Index>,
    /// The pods that were noted in `kept` one by one.
    noted: HashSet<&'a PodUid>,
    /// The pods that a rule kept although they would have helped, by leaf.
    pub(super) kept: BTreeMap<Index, Vec<(&'a Pod, Reason)>>,
}

impl<'a> Books<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        tree: &'a Tree<'a>,
        parties: &'a [Option<Party<'a>>],
        capacity: &'a Amounts,
        resources: &[&Resource],
    ) -> Self {
        let nothing = Amounts::new();
        let deserved: Vec<Amounts> = deserved_everywhere(tree, parties);
        let deserved: Vec<&Amounts> = deserved.iter().collect();
        let staying = parties.iter().map(|party| {
            party.as_ref().map_or_else(
                || nothing.clone(),
                |party| party.headcount.charged.less(&party.headcount.leaving),
            )
        });
        let mut takers = HashSet::new();
        for (at, party) in parties.iter().enumerate() {
            let Some(party) = party else { continue };
            if resources.iter().any(|resource| party.promised(resource).is_positive()) {
                takers.extend(tree.path_up(at).map(|(index, _)| index));
            }
        }
        Self {
            snapshot,
            tree,
            parties,
            scale: capacity,
            balance: Balance::new(snapshot, tree, parties, resources),
            guarantees: Guarantees::new(tree, staying.collect(), &deserved),
            sources: BTreeMap::new(),
            chosen: HashSet::new(),
            victims: Vec::new(),
            takers,
            unbound: unbound_everywhere(snapshot, parties),
            noted: HashSet::new(),
            kept: BTreeMap::new(),
        }
    }

    fn party(&self, at: Index) -> Option<&'a Party<'a>> {
        self.parties.get(at).and_then(Option::as_ref)
    }

    /// The pods of the leaf at `at`.
    pub(super) fn source(&mut self, at: Index) -> Option<&mut Source<'a>> {
        let party = self.party(at)?;
        let snapshot = self.snapshot;
        Some(self.sources.entry(at).or_insert_with(|| Source {
            candidates: candidates(party.state, party.queue, snapshot),
            budgets: Budgets::of(party.state),
        }))
    }

    /// The victims among the pods of the leaf at `at` that cover `ask`, or as much of it as may be taken.
    ///
    /// `wholly`: also pods whose room nobody else can use, because their queue is above its limit. `priority`: the highest
    /// that victims may have, if it is compared.
    pub(super) fn choose(
        &mut self,
        at: Index,
        ask: &Amounts,
        wholly: bool,
        priority: Option<i32>,
    ) -> Vec<Candidate<'a>> {
        let (snapshot, chosen) = (self.snapshot, std::mem::take(&mut self.chosen));
        let Some(source) = self.source(at) else {
            self.chosen = chosen;
            return Vec::new();
        };
        let mut kept: Vec<(&'a Pod, Reason)> = source.candidates.never.clone();
        let mut able: Vec<Candidate<'a>> = Vec::new();
        for candidate in &source.candidates.may_go {
            if !candidate.requests().overlaps(ask)
                || candidate.pods().iter().any(|pod| chosen.contains(&pod.uid))
            {
                continue;
            }
            if !wholly && !candidate.pods().iter().all(|pod| snapshot.frees_room(pod)) {
                kept.extend(candidate.pods().iter().map(|pod| (*pod, Reason::NodeNotCounted)));
                continue;
            }
            if priority.is_some_and(|highest| candidate.pods().iter().any(|pod| pod.priority > highest)) {
                kept.extend(candidate.pods().iter().map(|pod| (*pod, Reason::PriorityAboveAsk)));
                continue;
            }
            able.push(candidate.clone());
        }
        self.chosen = chosen;
        loop {
            let mut victims = select(able.clone(), ask, self.scale);
            let Some((reason, barred)) = self.first_objection(at, &victims) else {
                with_all_surplus(&mut victims, ask, &self.chosen);
                kept.retain(|(pod, _)| pod.requests().overlaps(ask));
                self.kept.entry(at).or_default().append(&mut kept);
                return victims;
            };
            let held_back = self.alike(at, &able, &victims, &barred, reason);
            let out: HashSet<(&PodUid, bool)> =
                held_back.iter().map(|one| (&one.pod.uid, one.gang.is_some())).collect();
            able.retain(|one| !out.contains(&(&one.pod.uid, one.gang.is_some())));
            kept.extend(held_back.iter().flat_map(Candidate::pods).map(|pod| (*pod, reason)));
        }
    }

    /// The first victim, in order, that may not go beside those before it, and why.
    fn first_objection(&mut self, at: Index, victims: &[Candidate<'a>]) -> Option<(Reason, Candidate<'a>)> {
        let budgets = self.source(at).map(|source| source.budgets.allow(victims)).unwrap_or_default();
        let spare = self.spare(at);
        let mut taken = Amounts::new();
        let mut counted: HashSet<&PodUid> = HashSet::new();
        for (victim, allowed) in victims.iter().zip(budgets) {
            if !allowed {
                return Some((Reason::Budget, victim.clone()));
            }
            for pod in victim.everything() {
                if counted.insert(&pod.uid) {
                    taken.add_all(pod.requests());
                }
            }
            if !fits_in_spare(&taken, &spare) {
                return Some((Reason::Guarantee, victim.clone()));
            }
        }
        None
    }

    /// Of `able` everything that the objection to `barred` keeps, but for those that were accepted before it.
    fn alike(
        &mut self,
        at: Index,
        able: &[Candidate<'a>],
        victims: &[Candidate<'a>],
        barred: &Candidate<'a>,
        reason: Reason,
    ) -> Vec<Candidate<'a>> {
        let accepted: HashSet<&PodUid> = victims
            .iter()
            .take_while(|victim| victim.pod.uid != barred.pod.uid)
            .map(|victim| &victim.pod.uid)
            .collect();
        let guarded = self.spare(at).into_iter();
        let part: Amounts =
            guarded.map(|(resource, _)| (resource.clone(), barred.requests().get(&resource))).collect();
        let before: Vec<Candidate<'a>> =
            victims.iter().filter(|victim| accepted.contains(&victim.pod.uid)).cloned().collect();
        let Some(source) = self.source(at) else { return Vec::new() };
        let is_alike = |one: &&Candidate<'a>| {
            if accepted.contains(&one.pod.uid) {
                return false;
            }
            one.pod.uid == barred.pod.uid && one.gang.is_some() == barred.gang.is_some()
                || match reason {
                    Reason::Budget => {
                        source.budgets.same(one, barred) && {
                            let mut with = before.clone();
                            with.push((*one).clone());
                            !source.budgets.allow(&with).last().copied().unwrap_or_default()
                        }
                    }
                    _ => part.fits_in(one.requests()),
                }
        };
        able.iter().filter(is_alike).cloned().collect()
    }

    /// How much of each guaranteed resource may be taken from the leaf at `at` before a guarantee is touched.
    fn spare(&self, at: Index) -> Vec<(Resource, Amount)> {
        let contains_taker = |index: Index| self.takers.contains(&index);
        let named = self.tree.path_up(at).flat_map(|(_, branch)| branch.queue.guaranteed.iter());
        let resources: BTreeSet<&Resource> = named.map(|(resource, _)| resource).collect();
        resources
            .into_iter()
            .map(|resource| {
                let spare = self.guarantees.spare(self.tree, at, resource, contains_taker);
                (resource.clone(), spare)
            })
            .filter(|(_, spare)| *spare < Amount::MAX)
            .collect()
    }

    /// Which of `victims`, in this order, may go together for an ask of `requests`: they are not chosen yet, their
    /// queues still hold too much of something that is asked for (or, `within_share`, more than they are guaranteed),
    /// no guarantee is touched and budgets allow it.
    pub(super) fn may_go(
        &mut self,
        victims: &[Resident<'a>],
        requests: &Amounts,
        within_share: bool,
        forbids: &dyn Fn(Index, &Pod) -> Option<Reason>,
    ) -> Vec<bool> {
        if let [one] = victims {
            return vec![self.may_go_alone(one, requests, within_share, forbids)];
        }
        let mut taken: BTreeMap<Index, (Amounts, Vec<Candidate<'a>>)> = BTreeMap::new();
        let mut verdicts = Vec::new();
        for resident in victims {
            let at = resident.leaf;
            let pods = resident.candidate.pods();
            let (already, beside) = taken.entry(at).or_default();
            let mut with = already.clone();
            for pod in resident.candidate.everything().filter(|pod| !self.chosen.contains(&pod.uid)) {
                with.add_all(pod.requests());
            }
            let free = pods.iter().all(|pod| !self.chosen.contains(&pod.uid) && forbids(at, pod).is_none());
            let spare = self.spare(at);
            // Something that is asked for must still be too much before this victim goes.
            let too_much = requests.resources().any(|resource| {
                let here = pods.iter().any(|pod| pod.requests().get(resource).is_positive());
                let over = if within_share {
                    spare.iter().find(|(one, _)| one == resource).map_or(Amount::MAX, |(_, spare)| *spare)
                } else {
                    self.over_on_nodes(at, resource)
                };
                here && over > already.get(resource)
            });
            let mut together = beside.clone();
            together.push(resident.candidate.clone());
            let may = free
                && too_much
                && fits_in_spare(&with, &spare)
                && self.source(at).is_some_and(|source| {
                    source.budgets.allow(&together).last().copied().unwrap_or_default()
                });
            if may {
                taken.insert(at, (with, together));
            }
            verdicts.push(may);
        }
        verdicts
    }

    /// [`may_go`](Self::may_go) for a single victim, which is what is asked most often.
    fn may_go_alone(
        &mut self,
        victim: &Resident<'a>,
        requests: &Amounts,
        within_share: bool,
        forbids: &dyn Fn(Index, &Pod) -> Option<Reason>,
    ) -> bool {
        let (at, candidate) = (victim.leaf, &victim.candidate);
        if candidate.pods().iter().any(|pod| self.chosen.contains(&pod.uid)) {
            return false;
        }
        if let Some(rule) = candidate.pods().iter().find_map(|pod| forbids(at, pod)) {
            if rule == Reason::PriorityAboveAsk {
                self.keep(at, candidate, rule);
            }
            return false;
        }
        let spare = self.spare(at);
        let mut takes = Amounts::new();
        for pod in candidate.everything().filter(|pod| !self.chosen.contains(&pod.uid)) {
            takes.add_all(pod.requests());
        }
        let guarded = !fits_in_spare(&takes, &spare);
        let too_much = requests.resources().any(|resource| {
            let over = if within_share {
                spare.iter().find(|(one, _)| one == resource).map_or(Amount::MAX, |(_, spare)| *spare)
            } else {
                self.over_on_nodes(at, resource)
            };
            takes.get(resource).is_positive() && over.is_positive()
        });
        if !too_much {
            return false;
        }
        let one = std::slice::from_ref(candidate);
        let budget = self.source(at).is_some_and(|source| source.budgets.allow(one).iter().all(|may| *may));
        if guarded || !budget {
            self.keep(at, candidate, if guarded { Reason::Guarantee } else { Reason::Budget });
        }
        !guarded && budget
    }

    /// What pods on nodes hold too much of: what pods without a node hold goes first.
    fn over_on_nodes(&self, at: Index, resource: &Resource) -> Amount {
        let of = |list: &[Amounts]| list.get(at).map(|amounts| amounts.get(resource)).unwrap_or_default();
        of(&self.balance.overuse).less(of(&self.unbound))
    }

    /// Notes that a rule keeps `candidate`, once.
    fn keep(&mut self, at: Index, candidate: &Candidate<'a>, rule: Reason) {
        for pod in candidate.pods() {
            if self.noted.insert(&pod.uid) {
                self.kept.entry(at).or_default().push((pod, rule));
            }
        }
    }

    /// Notes which pods of the leaf at `at` are never taken, of those that would help with `requests`.
    pub(super) fn keep_never_taken(&mut self, at: Index, requests: &Amounts) {
        let never = self.source(at).map(|source| source.candidates.never.clone()).unwrap_or_default();
        for (pod, rule) in never {
            if pod.requests().overlaps(requests) && self.noted.insert(&pod.uid) {
                self.kept.entry(at).or_default().push((pod, rule));
            }
        }
    }

    /// Books that `victim` of the leaf at `at` goes, and returns what others gain by it.
    pub(super) fn take(&mut self, at: Index, victim: &Candidate<'a>) -> Amounts {
        let mut freed = Amounts::new();
        for pod in victim.pods() {
            self.chosen.insert(pod.uid.clone());
            self.guarantees.take(self.tree, at, pod.requests());
            freed.add_all(&self.balance.evict(self.tree, at, pod.requests()));
            if let Some(unbound) = self.unbound.get_mut(at).filter(|_| is_unbound(pod)) {
                *unbound = unbound.less(pod.requests());
            }
        }
        if let Some(source) = self.source(at) {
            source.budgets.book(victim);
        }
        freed
    }
}

/// Whether a pod waits for a node.
fn is_unbound(pod: &Pod) -> bool {
    pod.node.is_none() && pod.phase == Phase::Pending
}

/// What live pods of each leaf request that wait for a node and would take the place of any that is freed.
///
/// Those that no node could run take nobody's place.
fn unbound_everywhere(snapshot: &Snapshot, parties: &[Option<Party<'_>>]) -> Vec<Amounts> {
    let mut could_run: BTreeMap<*const Shape, bool> = BTreeMap::new();
    let mut of_party = |party: &Party<'_>| {
        let mut sum = Amounts::new();
        let waits = |pod: &&Pod| is_unbound(pod) && pod.is_live() && pod.immunity.is_none();
        for pod in party.state.pods.iter().filter(waits) {
            let known = could_run.entry(Arc::as_ptr(&pod.shape));
            if *known.or_insert_with(|| snapshot.could_run(&pod.shape)) {
                sum.add_all(pod.requests());
            }
        }
        sum
    };
    parties.iter().map(|party| party.as_ref().map(&mut of_party).unwrap_or_default()).collect()
}

/// Whether no more is taken than may be; resources that are not named are not bounded.
fn fits_in_spare(taken: &Amounts, spare: &[(Resource, Amount)]) -> bool {
    spare.iter().all(|(resource, spare)| taken.get(resource) <= *spare)
}

/// A gang that goes takes its surplus with it; then some of the others may not be needed.
fn with_all_surplus(victims: &mut Vec<Candidate<'_>>, ask: &Amounts, chosen: &HashSet<PodUid>) {
    if victims.iter().all(|victim| victim.gang.is_none()) {
        return;
    }
    let (gangs, mut singles): (Vec<_>, Vec<_>) = victims.drain(..).partition(|one| one.gang.is_some());
    let mut besides = Amounts::new();
    let mut follow: HashSet<PodUid> = HashSet::new();
    for whole in gangs.iter().filter_map(|one| one.gang.as_ref()) {
        besides.add_all(&whole.requests);
        for pod in whole.surplus.iter().filter(|pod| !chosen.contains(&pod.uid)) {
            besides.add_all(pod.requests());
            follow.insert(pod.uid.clone());
        }
    }
    singles.retain(|one| !follow.contains(&one.pod.uid));
    singles.reverse();
    drop_unneeded(&mut singles, &besides, ask);
    singles.reverse();
    for gang in gangs {
        let surplus = gang.gang.iter().flat_map(|whole| &whole.surplus);
        let surplus = surplus.filter(|pod| !chosen.contains(&pod.uid));
        singles.extend(surplus.map(|pod| Candidate::surplus(pod)));
        singles.push(gang);
    }
    *victims = singles;
}

/// What every branch deserves: of a parent what its leaves do together.
fn deserved_everywhere(tree: &Tree<'_>, parties: &[Option<Party<'_>>]) -> Vec<Amounts> {
    let mut all: Vec<Amounts> =
        parties.iter().map(|party| party.map(|party| party.deserved.clone()).unwrap_or_default()).collect();
    for (at, branch) in tree.branches.iter().enumerate().rev() {
        for child in &branch.children {
            let below = all.get(*child).cloned().unwrap_or_default();
            if let Some(entry) = all.get_mut(at) {
                entry.add_all(&below);
            }
        }
    }
    all
}
