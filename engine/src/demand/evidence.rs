//! Evidence: what the pods and owners of a top workload show for or against it.

use std::collections::BTreeMap;

use super::{PendingPods, members};
use crate::keyed::KeyedMap;
use crate::names::{GangName, OwnerUid};
use crate::nodes::Nodes;
use crate::snapshot::{
    Gang, MAX_SET_ASIDE, NamespaceState, Owner, OwnerKind, Phase, Pod, Queue, SetAside, Settings, Shape,
};
use crate::time::{Timestamp, earliest};

/// How long a pod with room may not be Ready, or not be created, before that is evidence.
const EVIDENCE_SECONDS: i64 = 10;
/// How long a pod may be unschedulable, or its failure be reported, before its workload is set aside.
const REPORTED_SECONDS: i64 = 60;
/// How long it may have no node where one may be added for it: autoscalers need minutes.
const WITHOUT_NODE_SECONDS: i64 = 600;
/// How long a pod with room may not start, or not be created, where no failure is reported.
const SILENT_SECONDS: i64 = 300;

/// Until when an autoscaler may still add a node for `pod`; none if it is not waiting for one, or has been for too
/// long.
pub(crate) fn node_patience(pod: &Pod, settings: &Settings, now: Timestamp) -> Option<Timestamp> {
    let stuck = pod.stuck.filter(|_| waits_for_nodes(pod, settings))?;
    Some(stuck.plus_seconds(WITHOUT_NODE_SECONDS)).filter(|until| *until > now)
}

fn waits_for_nodes(pod: &Pod, settings: &Settings) -> bool {
    pod.node.is_none() && pod.requests().overlaps(&settings.expandable)
}

/// Whether the pod is Ready, or was: it stopped being Ready after its containers had started. Of a pod that was bound just now
/// its kubelet has said nothing yet.
pub(super) fn is_proven(pod: &Pod) -> bool {
    let was_ready = |stuck: Timestamp| pod.started.is_some_and(|started| started < stuck);
    let is_begun = pod.node.is_some() && pod.phase != Phase::Pending;
    is_begun && !pod.failing && pod.stuck.is_none_or(was_ready)
}

/// How long the pod may be as it is before its workload is set aside.
fn patience(pod: &Pod) -> i64 {
    let is_reported = pod.failing || pod.node.is_none() && pod.stuck.is_some();
    if is_reported { REPORTED_SECONDS } else { SILENT_SECONDS }
}

/// How far the pods of an owner got; those of all Jobs of a workload together.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// How many are or were Ready, or have succeeded.
    pub(super) proven: u32,
    /// How many more were at most, before pods of it went.
    pub(super) gone: u32,
    /// How many exist, count and have not been Ready yet.
    pub(super) making: u32,
    /// How many of those leave because they were evicted.
    pub(super) leaving: u32,
    /// How many of these count although others of them did not start.
    pub(super) tried: u32,
    /// When the newest was created.
    newest: Option<Timestamp>,
}

/// What is known of one top workload: what people know, such as a Deployment; a bare pod by itself.
#[derive(Debug, Default)]
pub(super) struct Evidence<'a> {
    kind: &'a str,
    name: &'a str,
    /// Changes with its spec.
    revision: i64,
    /// What is remembered of it.
    pub(super) entry: Option<SetAside>,
    /// Whether it was set aside just now.
    pub(super) is_new: bool,
    /// From when on there is evidence against it.
    pub(super) evident: Option<Timestamp>,
    /// How many of the pods that it lacks count so far.
    pub(super) counted: u32,
    lacks: bool,
    /// Whether it is decided which of its pods that never started count.
    pub(super) has_late_pods: bool,
    /// When the first of its units has had room for too long.
    deadline: Option<Timestamp>,
    /// The units of which that is true then: the shape of each that has no node, none for the others.
    late: Vec<Option<&'a Shape>>,
    /// What waits for a node, or would.
    shapes: Vec<&'a Shape>,
    /// When the last of its proven pods started.
    proven: Option<Timestamp>,
}

impl<'a> Evidence<'a> {
    fn expire(&mut self, at: Timestamp, unbound: Option<&'a Shape>) {
        if self.deadline.is_none_or(|deadline| at < deadline) {
            self.deadline = Some(at);
            self.late.clear();
        }
        let address = |shape: Option<&'a Shape>| shape.map(std::ptr::from_ref);
        let is_known = self.late.last().copied().map(address) == Some(address(unbound));
        if self.deadline == Some(at) && !is_known {
            self.late.push(unbound);
        }
    }

    /// When it counts again, where it is set aside.
    fn again(&self) -> Timestamp {
        self.entry.as_ref().map_or(Timestamp::from_millis(i64::MIN), SetAside::until)
    }

    fn add_shape(&mut self, shape: &'a Shape) {
        if !self.shapes.last().is_some_and(|last| std::ptr::eq(*last, shape)) {
            self.shapes.push(shape);
        }
    }

    /// What is to be remembered of it from now on.
    fn next(&mut self, nodes: &Nodes<'_>, now: Timestamp) {
        let is_active = self.entry.as_ref().is_some_and(|entry| entry.is_active(now));
        if let Some(entry) = &mut self.entry {
            let recovers = self.proven > Some(entry.since);
            let fits = || entry.lacked_room && self.shapes.iter().any(|shape| nodes.have_room(shape));
            let is_lifted = is_active
                && (recovers || entry.revision != self.revision || nodes.count() > entry.nodes || fits());
            entry.nodes = entry.nodes.min(nodes.count());
            if is_lifted {
                entry.since = now.plus_seconds(entry.seconds().saturating_neg());
            }
            if recovers && entry.times > 0 {
                entry.since = entry.until();
                entry.times = 0;
            }
        }
        if is_active || self.deadline.is_none_or(|at| at > now) {
            return;
        }
        self.is_new = true;
        self.entry = Some(SetAside {
            kind: self.kind.into(),
            name: self.name.into(),
            revision: self.revision,
            since: now,
            times: self.entry.as_ref().map_or(0, |entry| entry.times).saturating_add(1),
            nodes: nodes.count(),
            // Units that are due together decide together, in whatever order they were found.
            lacked_room: self.late.iter().all(|unbound| unbound.is_some_and(|shape| !nodes.have_room(shape))),
        });
    }
}

/// The workloads of a namespace. Of QueueJobs nothing is known here: they have a time to start of their own.
pub(super) struct Workloads<'n, 'a> {
    nodes: &'n Nodes<'a>,
    now: Timestamp,
    /// What is remembered of what was set aside.
    entries: KeyedMap<&'a str, &'a SetAside>,
    owners: KeyedMap<&'a str, &'a Owner>,
    /// By the uid of the top workload.
    all: BTreeMap<&'a str, Evidence<'a>>,
    /// By the uid of a ReplicaSet, else of the top workload: a redeploy is not held up by what the spec before it left.
    progress: KeyedMap<&'a str, Progress>,
    /// Since when pods without a node have had room in vain.
    room_since: Option<Timestamp>,
    /// How many live members each gang has.
    members: KeyedMap<&'a GangName, u32>,
    pub(super) next_change: Option<Timestamp>,
}

/// The uid, kind and name of the workload that people know.
fn top(owner: &Owner) -> (&str, &str, &str) {
    match &owner.controller {
        Some(top) => (top.uid.as_str(), &top.kind, &top.name),
        None => (owner.uid.as_str(), owner.kind.name(), &owner.name),
    }
}

/// Those of its pods that its progress is counted from.
fn scope(owner: &Owner) -> &str {
    if owner.kind == OwnerKind::ReplicaSet { owner.uid.as_str() } else { top(owner).0 }
}

/// A number that changes with the spec of the workload. A Job that a `CronJob` creates is no new spec.
fn revision(owner: &Owner) -> i64 {
    const GENERATIONS: i64 = 1 << 20;
    let is_try = owner.kind == OwnerKind::Job && owner.controller.is_some();
    let created = if is_try { 0 } else { owner.created.millis().div_euclid(1000) };
    created.saturating_mul(GENERATIONS).saturating_add(owner.generation.rem_euclid(GENERATIONS))
}

impl<'n, 'a> Workloads<'n, 'a> {
    /// Looks at the pods of a namespace and at what its owners lack.
    pub(super) fn of(
        queue: &'a Queue,
        state: &'a NamespaceState,
        pending_pods: &[PendingPods<'a>],
        nodes: &'n Nodes<'a>,
    ) -> Self {
        let (now, remembered) = (nodes.snapshot().now, &queue.remembered);
        let (all, progress, members) = (BTreeMap::new(), KeyedMap::default(), members(state));
        let owners = state.owners.iter().map(|owner| (owner.uid.as_str(), owner)).collect();
        let room_since = remembered.room_since.map(|since| since.min(now));
        let entries = remembered.set_aside.iter().map(|(uid, entry)| (uid.as_str(), entry)).collect();
        let mut workloads =
            Self { nodes, now, entries, owners, all, progress, members, room_since, next_change: None };
        for owner in state.owners.iter().filter(|owner| owner.kind != OwnerKind::QueueJob) {
            let evidence = workloads.evidence(top(owner));
            evidence.revision = evidence.revision.max(revision(owner));
            let progress = workloads.progress.entry(scope(owner)).or_default();
            progress.proven = progress.proven.saturating_add(owner.succeeded);
        }
        // What an evicted pod shows counts until it is gone: an eviction changes no demand.
        for pod in state.pods.iter().filter(|pod| pod.is_live() || pod.evicted && pod.is_charged()) {
            workloads.add_pod(pod);
        }
        for pending in pending_pods.iter().filter(|pending| pending.owner.kind != OwnerKind::QueueJob) {
            workloads.add_pending(pending, remembered.waiting.get(&pending.owner.uid));
        }
        workloads
    }

    fn evidence(&mut self, (uid, kind, name): (&'a str, &'a str, &'a str)) -> &mut Evidence<'a> {
        self.all.entry(uid).or_insert_with(|| {
            let entry = self.entries.get(uid).map(|entry| entry.not_after(self.now));
            let entry = entry.filter(|entry| entry.evidence_until() > self.now);
            Evidence { kind, name, entry, ..Evidence::default() }
        })
    }

    fn add_pod(&mut self, pod: &'a Pod) {
        let now = self.now;
        let own = (pod.uid.as_str(), "Pod", pod.name.as_str());
        let owner = pod.owner().and_then(|uid| self.owners.get(uid.as_str())).copied();
        let (named, scope) = match (owner, &pod.metadata.owner) {
            (Some(owner), _) if owner.kind == OwnerKind::QueueJob => return,
            (Some(owner), _) => (top(owner), scope(owner)),
            (None, Some(owner)) => ((owner.uid.as_str(), &*owner.kind, &*owner.name), owner.uid.as_str()),
            // Of a bare pod only trouble matters, and what was remembered of it.
            (None, None) if pod.stuck_since(now).is_none() && !self.entries.contains_key(own.0) => return,
            (None, None) => (own, own.0),
        };
        let progress = self.progress.entry(scope).or_default();
        progress.newest = progress.newest.max(Some(pod.created));
        let until = node_patience(pod, &self.nodes.snapshot().settings, now);
        if is_proven(pod) {
            progress.proven = progress.proven.saturating_add(1);
        } else if until.is_none() {
            let count = if pod.is_live() { &mut progress.making } else { &mut progress.leaving };
            *count = count.saturating_add(1);
        }
        self.next_change = earliest(self.next_change, until);
        let deadline = self.deadline(pod);
        let evidence = self.evidence(named);
        if is_proven(pod) {
            evidence.proven = evidence.proven.max(Some(pod.started.unwrap_or(pod.created)));
        } else if until.is_none() && pod.stuck_since(now).is_some() {
            let seconds = if pod.failing { 0 } else { EVIDENCE_SECONDS };
            let evident = pod.stuck.map(|stuck| stuck.plus_seconds(seconds));
            evidence.evident = earliest(evidence.evident, evident);
            if !pod.is_live() {
                return;
            }
            if pod.node.is_none() {
                evidence.add_shape(&pod.shape);
            }
            if let Some(deadline) = deadline {
                let deadline = deadline.max(evidence.again().plus_seconds(patience(pod)));
                evidence.expire(deadline, pod.node.is_none().then_some(&*pod.shape));
            }
        }
    }

    /// When a pod that never started has had room for long enough. What holds the room of a pod without a node is no evidence
    /// against it, unless no node could run it at all.
    pub(super) fn deadline(&self, pod: &Pod) -> Option<Timestamp> {
        let stuck = pod.stuck_since(self.now).filter(|_| pod.phase == Phase::Pending)?;
        let waits = waits_for_nodes(pod, &self.nodes.snapshot().settings);
        let seconds = if waits { WITHOUT_NODE_SECONDS } else { patience(pod) };
        let since = if pod.node.is_some() || waits || !self.nodes.could_run(&pod.shape) {
            stuck
        } else {
            stuck.max(self.room_since?)
        };
        Some(since.plus_seconds(seconds))
    }

    /// `waiting` is since when there has been room for one of the pods that `pending` lacks.
    fn add_pending(&mut self, pending: &PendingPods<'a>, waiting: Option<&Timestamp>) {
        let owner = pending.owner;
        let newest = self.progress.get(scope(owner)).and_then(|progress| progress.newest);
        let Some(evidence) = self.all.get_mut(top(owner).0) else { return };
        evidence.lacks = true;
        evidence.add_shape(&owner.shape);
        if owner.fails {
            evidence.evident = Some(Timestamp::from_millis(i64::MIN));
        }
        if let Some(waiting) = waiting {
            let since = newest.map_or(*waiting, |newest| newest.max(*waiting)).min(self.now);
            evidence.evident = earliest(evidence.evident, Some(since.plus_seconds(EVIDENCE_SECONDS)));
            let is_reported = owner.fails || owner.rejected.is_some();
            let seconds = if is_reported { REPORTED_SECONDS } else { SILENT_SECONDS };
            evidence.expire(since.plus_seconds(seconds), None);
        }
    }

    /// What is set aside now, or was within the last hour.
    pub(super) fn set_aside(&mut self) -> BTreeMap<OwnerUid, SetAside> {
        let (nodes, now) = (self.nodes, self.now);
        let gone = self.entries.iter().filter(|(uid, _)| !self.all.contains_key(**uid));
        let gone = gone.map(|(uid, entry)| (OwnerUid::from(*uid), entry.not_after(now)));
        let mut gone: Vec<_> = gone.filter(|(_, entry)| entry.evidence_until() > now).collect();
        gone.sort_by(|(a, one), (b, other)| (other.since, a).cmp(&(one.since, b)));
        gone.truncate(MAX_SET_ASIDE);
        let mut entries: BTreeMap<OwnerUid, SetAside> = gone.into_iter().collect();
        for (uid, evidence) in &mut self.all {
            evidence.next(nodes, now);
            if let Some(entry) = &evidence.entry {
                entries.insert(OwnerUid::from(*uid), entry.clone());
            }
        }
        entries
    }

    /// How many pods of each of `owners` are or were Ready, at least as many as `before`: an eviction is no evidence. What is
    /// set aside begins anew.
    pub(super) fn most_proven(
        &mut self,
        owners: &[Owner],
        before: &BTreeMap<OwnerUid, u32>,
    ) -> BTreeMap<OwnerUid, u32> {
        let mut most = BTreeMap::new();
        for owner in owners {
            let Some((evidence, progress)) = self.of_owner(owner) else { continue };
            if evidence.entry.is_none() {
                let uid = OwnerUid::from(scope(owner));
                let known = before.get(&uid).copied().unwrap_or_default();
                progress.gone = known.saturating_sub(progress.proven);
                most.insert(uid, known.max(progress.proven));
            }
        }
        most.retain(|_, proven| *proven > 0);
        most
    }

    /// When anything of this changes although nothing happens.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let now = self.now;
        let of_workloads = self.all.values().flat_map(|evidence| {
            let evident = evidence.evident.filter(|_| evidence.lacks);
            // What is set aside has no other time than its end.
            let is_active = evidence.entry.as_ref().is_some_and(|entry| entry.is_active(now));
            let deadline = evidence.deadline.filter(|_| !is_active);
            [evident, deadline].into_iter().flatten()
        });
        of_workloads.filter(|at| *at > now).min()
    }

    pub(super) fn of_pod(&mut self, pod: &Pod) -> Option<(&mut Evidence<'a>, &mut Progress)> {
        match (pod.owner(), pod.owner().and_then(|uid| self.owners.get(uid.as_str())).copied()) {
            (_, Some(owner)) => self.of_owner(owner),
            (uid, None) => self.of_keys(uid.map_or(pod.uid.as_str(), OwnerUid::as_str), None),
        }
    }

    pub(super) fn of_owner(&mut self, owner: &Owner) -> Option<(&mut Evidence<'a>, &mut Progress)> {
        self.of_keys(top(owner).0, Some(scope(owner)))
    }

    fn of_keys(&mut self, top: &str, scope: Option<&str>) -> Option<(&mut Evidence<'a>, &mut Progress)> {
        self.all.get_mut(top).zip(self.progress.get_mut(scope.unwrap_or(top)))
    }

    /// How many members the gang of `owner` lacks to be of use.
    pub(super) fn lacking_of_gang(&self, owner: &Owner) -> u32 {
        let lacks = |gang: &Gang| {
            gang.min_available.saturating_sub(self.members.get(&gang.name).copied().unwrap_or_default())
        };
        owner.gang.as_ref().map_or(0, lacks)
    }
}
