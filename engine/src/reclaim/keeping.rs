//! In which order a queue keeps its pods, which depends on how much of them has to go.

use rustc_hash::FxHashSet;

use super::candidate::Candidate;
use super::candidates::{of_pods, sorted};
use super::select::select;
use crate::amounts::Amounts;
use crate::names::PodUid;
use crate::snapshot::{NamespaceState, Pod, Queue, Snapshot};

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
}

impl<'a> Keeping<'a> {
    pub(crate) fn of(state: &'a NamespaceState, queue: &Queue, snapshot: &'a Snapshot) -> Self {
        let charged = state.pods.iter().filter(|pod| pod.is_charged());
        let sorted = sorted(of_pods(charged, queue, snapshot), state, queue, snapshot);
        let mut never: Vec<&'a Pod> = sorted.never.into_iter().map(|(pod, _)| pod).collect();
        never.sort_by(|a, b| (a.created, &a.name, &a.uid).cmp(&(b.created, &b.name, &b.uid)));
        // Above a limit it does not matter what others could use.
        let is_above_limit = is_above_limit(state, queue);
        let stays = |candidate: &Candidate<'_>| {
            !is_above_limit && candidate.pods().iter().any(|pod| !snapshot.frees_room(pod))
        };
        let (staying, others) = sorted.may_go.into_iter().partition(stays);
        Self { never, staying, others }
    }

    /// What the pods request: first what is never taken, then what stays when `beyond` has to go, then what goes, the first
    /// to go last. Of 2, 2 and 1 cpu it is the 1 that goes where 1 has to, whoever is the newest.
    pub(crate) fn order(&self, beyond: &Amounts, capacity: &Amounts) -> Vec<&'a Amounts> {
        let going = select(self.others.clone(), beyond, capacity);
        let goes: FxHashSet<&PodUid> = going.iter().map(|candidate| &candidate.pod.uid).collect();
        let kept = self.others.iter().filter(|candidate| !goes.contains(&candidate.pod.uid));
        let may_go: Vec<&Candidate<'a>> = going.iter().chain(kept).chain(&self.staying).collect();
        let pods = may_go.into_iter().rev().flat_map(|candidate| candidate.pods().iter().copied());
        self.never.iter().copied().chain(pods).map(Pod::requests).collect()
    }
}

/// Whether what is charged is more than the queue's own limit.
fn is_above_limit(state: &NamespaceState, queue: &Queue) -> bool {
    let mut charged = Amounts::new();
    for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
        charged.add_all(pod.requests());
    }
    queue.limit.iter().any(|(resource, limit)| charged.get(resource) > limit)
}
