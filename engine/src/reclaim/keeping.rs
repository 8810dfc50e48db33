//! In which order a queue keeps its pods, which depends on how much of them has to go.

use rustc_hash::FxHashSet;

use super::candidate::Candidate;
use super::candidates::{of_pods, sorted};
use super::select::select;
use crate::amounts::{Amount, Amounts, Bounds, Resource};
use crate::names::PodUid;
use crate::snapshot::{EvictionRules, NamespaceState, Pod, Queue, Snapshot};

/// The pods of a namespace, as far as their order does not depend on how much has to go.
///
/// Pods on their way out keep their place until they are gone: what was decided with them is not undone while they leave.
#[derive(Clone, Debug)]
pub(crate) struct Keeping<'a> {
    /// Those that are never taken, first to be kept first.
    never: Vec<&'a Pod>,
    /// Those that leave nothing that others could use, and the others; first to go first.
    staying: Vec<Candidate<'a>>,
    others: Vec<Candidate<'a>>,
    /// What all of them request.
    charged: Amounts,
    guaranteed: &'a Bounds,
}

impl<'a> Keeping<'a> {
    pub(crate) fn of(
        state: &'a NamespaceState,
        queue: &'a Queue,
        rules: EvictionRules,
        snapshot: &'a Snapshot,
    ) -> Self {
        let mut charged = Amounts::new();
        for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
            charged.add_all(pod.requests());
        }
        let pods = state.pods.iter().filter(|pod| pod.is_charged());
        let sorted = sorted(of_pods(pods, rules, snapshot), state, rules, snapshot);
        let mut never: Vec<&'a Pod> = sorted.never.into_iter().map(|(pod, _)| pod).collect();
        never.sort_by(|a, b| (a.created, &a.name, &a.uid).cmp(&(b.created, &b.name, &b.uid)));
        // Above a limit it does not matter what others could use.
        let is_above_limit = queue.limit.iter().any(|(resource, limit)| charged.get(resource) > limit);
        let stays = |candidate: &Candidate<'_>| {
            !is_above_limit && candidate.pods().iter().any(|pod| !snapshot.frees_room(pod))
        };
        let (staying, others) = sorted.may_go.into_iter().partition(stays);
        Self { never, staying, others, charged, guaranteed: &queue.guaranteed }
    }

    /// What the pods request: first what is never taken, then what stays when no more of what is `scarce` may be held than
    /// `deserved`, then what goes, the first to go last. Of 2, 2 and 1 cpu it is the 1 that goes where 1 has to, whoever is
    /// the newest.
    pub(crate) fn order<'r>(
        &self,
        deserved: &Amounts,
        scarce: impl Iterator<Item = &'r Resource>,
        capacity: &Amounts,
    ) -> Vec<&'a Amounts> {
        let beyond: Amounts =
            scarce.map(|one| (one.clone(), self.charged.get(one).less(deserved.get(one)))).collect();
        let (going, guarded) = self.going(&beyond, deserved, capacity);
        let goes: FxHashSet<&PodUid> =
            going.iter().chain(&guarded).map(|candidate| &candidate.pod.uid).collect();
        let kept = self.others.iter().filter(|candidate| !goes.contains(&candidate.pod.uid));
        let may_go = going.iter().chain(kept).chain(&self.staying).chain(&guarded);
        let may_go: Vec<&Candidate<'a>> = may_go.collect();
        let pods = may_go.into_iter().rev().flat_map(|candidate| candidate.pods().iter().copied());
        self.never.iter().copied().chain(pods).map(Pod::requests).collect()
    }

    /// Who goes when `beyond` has to, and whom their queue's guarantee keeps then, as when they are really taken.
    fn going(
        &self,
        beyond: &Amounts,
        deserved: &Amounts,
        capacity: &Amounts,
    ) -> (Vec<Candidate<'a>>, Vec<Candidate<'a>>) {
        let spare: Vec<(&Resource, Amount)> = (self.guaranteed.iter())
            .map(|(one, guaranteed)| (one, self.charged.get(one).less(guaranteed.min(deserved.get(one)))))
            .collect();
        let is_spare = |taken: &Amounts| spare.iter().all(|(one, spare)| taken.get(one) <= *spare);
        let mut able = self.others.clone();
        let mut guarded = Vec::new();
        loop {
            let going = select(able.clone(), beyond, capacity);
            let mut taken = Amounts::new();
            let accepted = going.iter().take_while(|candidate| {
                taken.add_all(&candidate.all_requests());
                is_spare(&taken)
            });
            let accepted: FxHashSet<&PodUid> = accepted.map(|candidate| &candidate.pod.uid).collect();
            let Some(barred) = going.get(accepted.len()) else { return (going, guarded) };
            // Whoever requests as much of what is guaranteed stays as well.
            let is_as_large = |candidate: &Candidate<'_>| {
                !accepted.contains(&candidate.pod.uid)
                    && (spare.iter())
                        .all(|(one, _)| barred.requests().get(one) <= candidate.requests().get(one))
            };
            let (kept, rest) = able.into_iter().partition(is_as_large);
            guarded.extend::<Vec<_>>(kept);
            able = rest;
        }
    }
}
