//! The index: what is known of the cluster, ready to be decided on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_snapshot::PodId;
use quotient_snapshot::ledger::Ledger;
use quotient_snapshot::names::{Namespace, QueueName};
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{Pod, PodMetadata, ReclaimGate, Remembered, Settings, Shape, Snapshot};
use serde_json::Value;

use crate::gangs::GroupName;
use crate::interned::Interned;
use crate::labels::ObservedNamespace;
use crate::namespace::NamespaceEntry;
use crate::nodes::Nodes;
use crate::overlays::PodKind;
use crate::priority_classes::PriorityClasses;
use crate::queues::ObservedQueue;
use crate::quotas::{ObservedQuota, QuotaKind};
use crate::settings::IndexSettings;
use crate::skipped::SkippedObjects;
use crate::tables::Table;

/// What is known of the cluster: fed through [`apply`](Self::apply) and its like, read through [`snapshot`](Self::snapshot).
///
/// One owner, no interior locks: the operator puts it behind a mutex that is held for one event or one
/// snapshot at a time.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) settings: IndexSettings,
    /// By the name of the kind.
    pub(crate) tables: BTreeMap<Arc<str>, Table>,
    pub(crate) namespaces: BTreeMap<Namespace, NamespaceEntry>,
    pub(crate) nodes: Nodes,
    pub(crate) pods: PodKind,
    pub(crate) priority_classes: PriorityClasses,
    pub(crate) quotas: QuotaKind,
    /// Whether all LimitRanges were listed once. Before that no namespace is known to have none.
    pub(crate) has_limit_ranges: bool,
    /// The PodGroups that have changed and whose members have yet to be told.
    pub(crate) unshown_groups: BTreeMap<Namespace, BTreeSet<GroupName>>,
    pub(crate) skipped: SkippedObjects,
    pub(crate) ledger: Option<Arc<Ledger>>,
    pub(crate) observed_namespaces: BTreeMap<Namespace, ObservedNamespace>,
    pub(crate) shapes: Interned<Shape>,
    pub(crate) metadata: Interned<PodMetadata>,
    pub(crate) texts: Interned<str>,
}

/// How much an index keeps: of what is gone, nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Namespaces of which something is known.
    pub namespaces: usize,
    /// Evictions that no watch has shown yet.
    pub evictions: usize,
    /// Texts that objects share.
    pub texts: usize,
    /// Shapes that pods share.
    pub shapes: usize,
}

impl Index {
    /// An index that knows nothing yet.
    pub fn new(settings: IndexSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// How much is kept.
    pub fn kept(&self) -> Kept {
        Kept {
            namespaces: self.namespaces.len(),
            evictions: self.pods.evictions.len(),
            texts: self.texts.len(),
            shapes: self.shapes.len(),
        }
    }

    /// What is known, as of `now`: what the API server said, and over it what was granted and done and not seen yet.
    ///
    /// Costs time by the number of namespaces and nodes, and by that of pods only in namespaces where pods or owners have changed
    /// since the last one. `now` decides only which nodes have been Ready for long enough, and which refused evictions may be
    /// tried again.
    pub fn snapshot(&mut self, now: Timestamp) -> Snapshot {
        self.snapshot_of(now, NamespaceEntry::is_shown)
    }

    /// The same with owners also where nothing else is. A decision need not look there; what their pods take from others counts
    /// once they are created.
    pub fn snapshot_with_every_owner(&mut self, now: Timestamp) -> Snapshot {
        self.snapshot_of(now, |entry| entry.is_shown() || !entry.state().owners.is_empty())
    }

    fn snapshot_of(&mut self, now: Timestamp, is_shown: fn(&NamespaceEntry) -> bool) -> Snapshot {
        self.end_refusals(now);
        let Self { namespaces, shapes, has_limit_ranges, .. } = self;
        for entry in namespaces.values_mut().filter(|entry| is_shown(entry)) {
            entry.complete_owners(*has_limit_ranges, shapes);
        }
        let shown = self.namespaces.iter().filter(|(_, entry)| is_shown(entry));
        let namespaces = shown.map(|(name, entry)| (name.clone(), Arc::clone(entry.state()))).collect();
        let pods = self.pods.seen(now);
        let grant_gate = self.ledger.as_ref().map(|ledger| ledger.grant_gate(&namespaces, pods, now));
        Snapshot {
            now,
            settings: self.engine_settings(),
            grant_gate: grant_gate.unwrap_or_default(),
            reclaim_gate: ReclaimGate::Allowed,
            targets: self.ledger.as_ref().and_then(|ledger| ledger.targets.clone()),
            nodes: self.nodes.at(now, self.settings.ready_seconds),
            namespaces,
        }
    }

    /// With a ceiling, what may still be added shrinks as nodes come.
    fn engine_settings(&self) -> Settings {
        let mut settings = self.settings.engine.clone();
        if !self.settings.ceiling.is_empty() {
            settings.expandable.add_all(&self.settings.ceiling.less(&self.nodes.claimed()));
        }
        settings
    }

    /// When a snapshot would next differ although nothing is applied: a node will have been Ready for long
    /// enough, or a refused eviction may be tried again. None if that will not happen.
    ///
    /// What a decision makes of the ages in a snapshot is not known here.
    pub fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let ripe = self.nodes.next_change(now, self.settings.ready_seconds);
        [ripe, self.pods.next_change(now)].into_iter().flatten().min()
    }

    /// What was observed of a Queue, for writing its status: version, generation and the status that it has.
    pub fn observed_queue(&self, name: &QueueName) -> Option<&Arc<ObservedQueue>> {
        self.namespaces.get(&name.namespace)?.queue(&name.name)
    }

    /// What was observed of a namespace's quota, for writing it: id, version and generation.
    pub fn observed_quota(&self, namespace: &Namespace) -> Option<&Arc<ObservedQuota>> {
        self.namespaces.get(namespace)?.observed_quota()
    }

    /// What `manualSelector` in the spec of this Job changes to so that the change means nothing; none if the author of the Job
    /// wrote the selector, the Job wants no pods, or it is not known.
    pub fn other_manual_selector(&self, namespace: &Namespace, job: &str) -> Option<Value> {
        self.namespaces.get(namespace)?.other_manual_selector(job)
    }

    /// The API server accepted the eviction of this pod, which has to be gone by `deadline`.
    ///
    /// Snapshots show the pod as terminating from now on, until the watch shows it terminating itself or gone,
    /// or [`pod_eviction_forgotten`](Self::pod_eviction_forgotten). Another pod of the same name is not
    /// affected, nor is one that the index does not hold.
    pub fn pod_evicted(&mut self, pod: &PodId, deadline: Timestamp) -> bool {
        if self.pod(pod).is_none_or(Pod::is_terminating) {
            return false;
        }
        self.pods.evictions.insert(pod.uid.clone(), (pod.clone(), deadline));
        self.entry_mut(&pod.namespace).set_pod_evicted(pod, Some(deadline))
    }

    /// The pod is not leaving after all, as far as is known: shows it again as the watch does.
    pub fn pod_eviction_forgotten(&mut self, pod: &PodId) -> bool {
        // What the watch has shown as terminating by itself is in no overlay any more and stays so.
        self.pods.evictions.remove(&pod.uid).is_some()
            && self.namespaces.get_mut(&pod.namespace).is_some_and(|entry| entry.set_pod_evicted(pod, None))
    }

    /// The API server refused the eviction of this pod: it is not worth another try before `until`.
    ///
    /// Snapshots taken before then show the pod as refused, until it is gone. Another pod of the same name is not
    /// affected, nor is one that the index does not hold. A later refusal replaces an earlier one.
    pub fn eviction_refused(&mut self, pod: &PodId, until: Timestamp) -> bool {
        if !self.holds_pod(pod) {
            return false;
        }
        self.pods.refusals.insert(pod.uid.clone(), (pod.clone(), until));
        self.entry_mut(&pod.namespace).set_pod_refused(&pod.uid, true)
    }

    /// When the containers of this pod first started; none if they have not, or if it is not known any more.
    pub fn pod_started(&self, pod: &PodId) -> Option<Timestamp> {
        self.pod(pod)?.started
    }

    /// Whether this life of the pod is kept. Only then the answer to a write of it may be applied, as with
    /// [`holds_scale_target`](Self::holds_scale_target).
    pub fn holds_pod(&self, pod: &PodId) -> bool {
        self.pod(pod).is_some()
    }

    /// The names of the budgets that protect this life of the pod.
    pub fn budgets_of(&self, pod: &PodId) -> Vec<Arc<str>> {
        let state = self.namespaces.get(&pod.namespace).map(NamespaceEntry::state);
        let Some((state, pod)) = state.zip(self.pod(pod)) else { return Vec::new() };
        let protects = state.budgets.iter().filter(|budget| budget.selector.matches(&pod.metadata.labels));
        protects.map(|budget| budget.name.clone()).collect()
    }

    /// What is kept of this life of the pod.
    fn pod(&self, pod: &PodId) -> Option<&Pod> {
        let (kept, _) = self.namespaces.get(&pod.namespace)?.pod(pod.name.as_str())?;
        Some(kept).filter(|kept| kept.uid == pod.uid)
    }

    /// What a decision leaves to the next one, for snapshots to show at once and not only when the Queue's status
    /// has come back.
    ///
    /// From now on and for as long as the Queue lives its status is not read for this any more; it is what another
    /// process, or the next, goes on from. Says whether it is other than before, which is no reason for a new
    /// decision: it came from one.
    pub fn remember(&mut self, queue: &QueueName, remembered: Remembered) -> bool {
        let entry = self.namespaces.get_mut(&queue.namespace);
        entry.is_some_and(|entry| entry.remember(&queue.name, remembered))
    }

    fn end_refusals(&mut self, now: Timestamp) {
        for pod in self.pods.take_expired_refusals(now) {
            if let Some(entry) = self.namespaces.get_mut(&pod.namespace) {
                entry.set_pod_refused(&pod.uid, false);
            }
        }
    }

    pub(crate) fn drop_if_empty(&mut self, namespace: &Namespace) {
        if self.namespaces.get(namespace).is_some_and(NamespaceEntry::is_empty) {
            self.namespaces.remove(namespace);
        }
    }
}
