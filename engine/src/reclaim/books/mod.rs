//! The books of one reclaim: what is still too much, what is guaranteed, what budgets allow, and who was chosen.

mod choose;
mod may_go;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Party;
use super::balance::Balance;
use super::budgets::Budgets;
use super::candidate::Candidate;
use super::candidates::{Candidates, candidates};
use super::guarantees::Guarantees;
use super::take::Shortage;
use super::victim::Victim;
use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Census;
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

/// How much of each guaranteed resource may be taken before a guarantee is touched.
type Spare = Vec<(Resource, Amount)>;

/// What changes while victims are chosen.
#[derive(Clone)]
pub(super) struct Books<'a> {
    snapshot: &'a Snapshot,
    census: &'a Census<'a>,
    tree: &'a Tree<'a>,
    parties: &'a [Option<Party<'a>>],
    /// What there is of each resource.
    pub(super) scale: &'a Amounts,
    pub(super) balance: Balance,
    guarantees: Guarantees,
    sources: BTreeMap<Index, Source<'a>>,
    pub(super) chosen: FxHashSet<PodUid>,
    /// The victims so far, in the order of their choice.
    pub(super) victims: Vec<Victim<'a>>,
    /// What pods without a node hold in each leaf: they go first, and leave no node any room.
    unbound: Vec<Amounts>,
    /// The leaves with pods that have no node, and what these request within the deserved share. Where the cluster is
    /// exceeded, they are what other pods are evicted for.
    pub(super) pending: Vec<Shortage>,
    /// The branches that somebody below is short: what moves inside them does not leave them.
    takers: FxHashSet<Index>,
    /// The pods that were noted in `kept` one by one.
    noted: FxHashSet<&'a PodUid>,
    /// The pods that a rule kept although they would have helped, by leaf.
    pub(super) kept: BTreeMap<Index, Vec<(&'a Pod, Reason)>>,
}

impl<'a> Books<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        census: &'a Census<'a>,
        tree: &'a Tree<'a>,
        parties: &'a [Option<Party<'a>>],
        capacity: &'a Amounts,
        resources: &[&Resource],
    ) -> Self {
        let of_leaves = |of: &dyn Fn(&Party<'_>) -> Amounts| -> Vec<Amounts> {
            parties.iter().map(|party| party.as_ref().map(of).unwrap_or_default()).collect()
        };
        let staying = of_leaves(&|party| party.headcount.all_staying());
        let deserved = of_leaves(&|party| party.deserved.clone());
        let mut takers = FxHashSet::default();
        for (at, party) in parties.iter().enumerate() {
            let Some(party) = party else { continue };
            if resources.iter().any(|resource| party.promised(resource).is_positive()) {
                takers.extend(tree.path_up(at).map(|(index, _)| index));
            }
        }
        let unbound = unbound_everywhere(snapshot, parties);
        let of_leaf = |(at, (party, unbound)): (Index, (&Option<Party<'_>>, &Amounts))| {
            let party = party.as_ref()?;
            let bound = party.headcount.all_staying().less(unbound);
            let pending = unbound.min(&party.deserved.less(&bound));
            (!pending.is_empty()).then(|| Shortage { at, promised: pending.clone(), missing: pending })
        };
        let pending = parties.iter().zip(&unbound).enumerate().filter_map(of_leaf).collect();
        Self {
            snapshot,
            census,
            tree,
            parties,
            scale: capacity,
            balance: Balance::new(snapshot, tree, parties, resources),
            guarantees: Guarantees::new(tree, staying, deserved),
            sources: BTreeMap::new(),
            chosen: FxHashSet::default(),
            victims: Vec::new(),
            takers,
            unbound,
            pending,
            noted: FxHashSet::default(),
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
            candidates: candidates(party.state, party.eviction, snapshot),
            budgets: Budgets::of(party.state),
        }))
    }

    /// The place of every victim among the candidates of its leaf, least protected first; the first is 1.
    pub(super) fn ranks(&mut self) -> FxHashMap<&'a PodUid, u32> {
        let mut victims: BTreeMap<Index, FxHashSet<&'a PodUid>> = BTreeMap::new();
        for victim in &self.victims {
            let of_leaf = victims.entry(victim.at).or_default();
            of_leaf.extend(victim.candidate.pods().iter().map(|pod| &pod.uid));
        }
        let mut ranks = FxHashMap::default();
        for (at, mut victims) in victims {
            let Some(source) = self.source(at) else { continue };
            for (candidate, rank) in source.candidates.may_go.iter().zip(1_u32..) {
                let chosen = candidate.pods().iter().filter(|pod| victims.remove(&pod.uid));
                ranks.extend(chosen.map(|pod| (&pod.uid, rank)));
                // Most victims stand in front.
                if victims.is_empty() {
                    break;
                }
            }
        }
        ranks
    }

    /// Which of `victims` of the leaf at `at`, in order, budgets allow beside those that were chosen.
    fn allow(&mut self, at: Index, victims: &[Candidate<'a>]) -> Vec<bool> {
        let chosen = std::mem::take(&mut self.chosen);
        let allowed = self.source(at).map(|source| source.budgets.allow(victims, &chosen));
        self.chosen = chosen;
        allowed.unwrap_or_default()
    }

    /// How much of each guaranteed resource may be taken from the leaf at `at` before a guarantee is touched.
    fn spare(&self, at: Index) -> Spare {
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
fn fits_in_spare(taken: &Amounts, spare: &Spare) -> bool {
    spare.iter().all(|(resource, spare)| taken.get(resource) <= *spare)
}
