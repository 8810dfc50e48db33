//! The workloads of a queue that can be scaled, and their pods: which may go, which stay whatever comes, and which go anyway.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::removal::{fixed, is_certain, removal_order};
use crate::candidates::{Bond, Candidate, Together, is_protected, rank};
use crate::keyed::{KeyedMap, KeyedSet};
use crate::leaf::Leaf;
use crate::names::{OwnerUid, PodUid};
use crate::plan::Scaling;
use crate::pod_set::PodSet;
use crate::reasons::KeptReason;
use crate::snapshot::{Owner, OwnerKind, Phase, Pod, Snapshot};
use crate::time::Timestamp;
use crate::usage::Usage;

/// One owner and its pods that are there.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) owner: &'a Owner,
    /// The pods that go already: they are more than the owner wants.
    pub(super) going: Vec<&'a Pod>,
    /// The others, first to be removed first.
    pub(super) order: Rc<[&'a Pod]>,
    /// How many of these go before any other, whatever they are marked with.
    pub(super) fixed: usize,
    /// Why none of them can be made to go by scaling the owner, if so.
    kept: Option<KeptReason>,
}

/// The owners of a queue that have pods, and its QueueJobs.
#[derive(Debug)]
pub(super) struct Members<'a> {
    pub(super) all: BTreeMap<&'a OwnerUid, Member<'a>>,
    /// Where every pod stands in the order of its owner.
    places: FxHashMap<&'a PodUid, usize>,
    /// The pods of the tasks of QueueJobs.
    pub(super) tasks: KeyedMap<&'a OwnerUid, Vec<&'a Pod>>,
}

impl<'a> Members<'a> {
    /// Those of `leaf`, without the pods that are `evicted` for other queues.
    pub(super) fn of(leaf: &'a Leaf<'a>, evicted: &FxHashSet<&PodUid>) -> Self {
        let state = leaf.state;
        let mut pods: KeyedMap<&OwnerUid, Vec<&'a Pod>> = KeyedMap::default();
        for pod in state.pods.iter().filter(|pod| pod.is_live() && !evicted.contains(&pod.uid)) {
            if let Some(owner) = pod.owner() {
                pods.entry(owner).or_default().push(pod);
            }
        }
        let scaled = state.owners.iter().filter(|owner| owner.kind != OwnerKind::QueueJob);
        let member = |owner: &'a Owner| Some((&owner.uid, Member::of(owner, pods.remove(&owner.uid)?)));
        let all: BTreeMap<&OwnerUid, Member<'a>> = scaled.filter_map(member).collect();
        let in_order = all.values().flat_map(|member| member.order.iter().enumerate());
        let places = in_order.map(|(at, pod)| (&pod.uid, at)).collect();
        let tasks = state.queue_jobs.iter().flat_map(|job| &job.tasks).map(|task| &task.owner);
        let tasks = tasks.map(|task| (task, pods.remove(task).unwrap_or_default())).collect();
        Self { all, places, tasks }
    }

    pub(super) fn of_pod(&self, pod: &Pod) -> Option<&Member<'a>> {
        self.all.get(pod.owner()?)
    }

    /// Whether pods of the owner are about to go, because they are more than are wanted.
    pub(super) fn gives(&self, owner: &OwnerUid) -> bool {
        self.all.get(owner).is_some_and(|member| !member.going.is_empty())
    }

    pub(super) fn is_of_queue_job(&self, pod: &Pod) -> bool {
        pod.owner().is_some_and(|owner| self.tasks.contains_key(owner))
    }

    /// All pods that may be chosen, least protected first. A QueueJob as a whole goes in the order of priorities.
    pub(super) fn candidates(
        &self,
        leaf: &'a Leaf<'a>,
        evicted: &FxHashSet<&PodUid>,
        snapshot: &'a Snapshot,
    ) -> Vec<Candidate<'a>> {
        let mut all: Vec<Candidate<'a>> = Vec::new();
        for member in self.all.values() {
            all.extend((0..member.order.len()).filter_map(|at| member.candidate(at, leaf, snapshot)));
        }
        let is_task = |one: &&Candidate<'a>| {
            self.is_of_queue_job(one.pod) && one.pods().iter().all(|pod| !evicted.contains(&pod.uid))
        };
        for candidate in leaf.candidates(snapshot).may_go.iter().filter(is_task) {
            let yielding = |together: &Rc<Together<'a>>| {
                Rc::new(Together { bond: Bond::YieldingGang, ..Together::clone(together) })
            };
            let together = candidate.together.as_ref().map(yielding);
            all.push(Candidate { together, ..candidate.clone() });
        }
        all.sort_by(rank);
        all
    }

    /// Why a pod never goes, whatever happens to others.
    pub(super) fn rule(&self, pod: &Pod, usage: &Usage<'_>) -> Option<KeptReason> {
        let rule = pod.kept.or_else(|| self.of_pod(pod)?.kept);
        rule.or_else(|| (!usage.frees_room(pod)).then_some(KeptReason::NodeNotCounted))
    }

    /// Whether the controller of `pod` removes it before one that is `gone`.
    pub(super) fn is_before_any(&self, pod: &Pod, gone: &PodSet) -> bool {
        let Some((member, at)) = self.of_pod(pod).zip(self.places.get(&pod.uid)) else { return false };
        let next = at.saturating_add(1);
        // Of those that are removed in this order none is gone whose predecessors are not.
        let later = if next < member.fixed { next..next.saturating_add(1) } else { next..member.order.len() };
        let mut later = member.order.get(later).into_iter().flatten();
        *at < member.fixed && later.any(|pod| gone.contains(pod))
    }

    /// Whether pods are marked whose workload is not scaled yet: such a choice is half carried out, and goes on.
    pub(super) fn is_begun(&self) -> bool {
        let has_marks =
            |member: &Member<'_>| member.order.iter().any(|pod| Scaling::marks(member.owner, pod));
        self.all.values().any(|member| member.owner.size.original_replicas.is_none() && has_marks(member))
    }

    /// Whether pods of workloads that yielded leave, and are not overdue.
    pub(super) fn is_under_way(&self, leaf: &Leaf<'_>, now: Timestamp) -> bool {
        let yielded = |owner: &Owner| owner.size.original_replicas.is_some();
        let leaves = |pod: &Pod| pod.is_charged() && pod.is_terminating() && !pod.is_overdue(now);
        let of_yielded: KeyedSet<&OwnerUid> =
            leaf.state.owners.iter().filter(|owner| yielded(owner)).map(|owner| &owner.uid).collect();
        let is_of_them = |pod: &Pod| pod.owner().is_some_and(|owner| of_yielded.contains(owner));
        self.all.values().any(|member| yielded(member.owner) && !member.going.is_empty())
            || leaf.state.pods.iter().any(|pod| leaves(pod) && is_of_them(pod))
            || !leaf.withdrawn().is_empty()
    }
}

impl<'a> Member<'a> {
    fn of(owner: &'a Owner, live: Vec<&'a Pod>) -> Self {
        let unscalable = owner.size.scale_target.is_none().then_some(KeptReason::NotScalable);
        let order = removal_order(owner.kind, live);
        let unforeseeable = (!is_certain(owner.kind, &order)).then_some(KeptReason::NotScalable);
        let fixed = fixed(owner.kind, &order);
        let surplus = order.len().saturating_sub(usize::try_from(owner.wanted).unwrap_or(usize::MAX));
        let (going, order) = order.split_at_checked(surplus).unwrap_or_default();
        let kept = owner.size.left_alone.or(unscalable).or(unforeseeable);
        Self { owner, going: going.to_vec(), order: order.into(), fixed: fixed.saturating_sub(surplus), kept }
    }

    /// The pod at `at` with all that its controller removes before.
    fn candidate(&self, at: usize, leaf: &Leaf<'_>, snapshot: &Snapshot) -> Option<Candidate<'a>> {
        let pod = *self.order.get(at)?;
        let before = at.min(self.fixed);
        let together = Together {
            bond: Bond::Removal,
            pods: [pod].into(),
            followers: (Rc::clone(&self.order), before),
            requests: pod.requests().clone(),
        };
        // What a Job has done so far is lost with its last pod; but it serves no client meanwhile.
        let is_last_of_job = self.owner.kind == OwnerKind::Job && at.saturating_add(1) == self.order.len();
        let protected =
            is_protected(pod, leaf.eviction, snapshot) || (is_last_of_job && pod.phase == Phase::Running);
        let together = (before > 0).then(|| Rc::new(together));
        Some(Candidate { together, ..Candidate::of(leaf.at, pod, protected) })
    }
}
