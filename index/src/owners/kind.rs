//! How owners come in.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::snapshot::{Owner, OwnerKind, Shape, Size, Unspecified};

use super::rejection::Refusal;
use crate::decoded::Undecodable;
use crate::gangs::stated;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::namespace::OwnerNote;
use crate::placement::{self, placement};
use crate::pods::{effective_requests, unspecified};
use crate::priority_classes::AskedPriority;
use crate::queue_jobs::TaskJob;
use crate::relist::{ListLoss, Relist};
use crate::resource_version::Age;
use crate::sizes::Said;
use crate::time::timestamp;
use crate::workload::controller;

/// An object that creates pods from a template.
pub(crate) trait OwnerObject {
    /// Its kind.
    const KIND: OwnerKind;

    fn metadata(&self) -> &ObjectMeta;

    /// How many pods it wants alive now, its deletion aside.
    fn wanted(&self) -> u32;

    fn template(&self) -> Option<&PodTemplateSpec>;

    /// The number in its spec that says how many pods it wants.
    fn written(&self) -> u32;

    /// How many pods it would want alive now if `size` stood there.
    fn wanted_at(&self, size: u32) -> u32;

    /// Why its last pod was refused, where its kind says that.
    fn refusal(&self) -> Refusal<'_> {
        Refusal::None
    }

    /// How many of its pods have succeeded, and whether they only fail, where its kind says that.
    fn outcome(&self) -> (u32, bool) {
        (0, false)
    }

    /// What is kept of it where a QueueJob controls it, which then says what it wants.
    fn of_queue_job(&self) -> Option<TaskJob> {
        None
    }
}

/// What is remembered of owners as kinds; the owners themselves stand in their namespaces.
#[derive(Debug, Default)]
pub(crate) struct OwnerKinds(BTreeMap<OwnerKind, Relist<Key>>);

type Key = (Namespace, Arc<str>);

impl OwnerKinds {
    pub(crate) fn relist(&mut self, kind: OwnerKind) -> &mut Relist<Key> {
        self.0.entry(kind).or_insert_with(Relist::idle)
    }

    fn loss(&self, kind: OwnerKind) -> ListLoss {
        self.0.get(&kind).map(Relist::loss).unwrap_or_default()
    }
}

/// ReplicaSets, StatefulSets, DaemonSets and Jobs, of which those that want no pods are not kept at all.
///
/// The reply to a nudge must not be applied: unlike for Queues and our quotas, nobody remembers here which of them
/// were deleted. The watch shows the same a moment later.
impl<O: OwnerObject> Keeps<O> for Index {
    fn apply(&mut self, object: &O) -> bool {
        let metadata = object.metadata();
        let Some(name) = metadata.name.as_deref().filter(|name| !name.is_empty()) else { return false };
        let namespace = Namespace::from(metadata.namespace.as_deref().unwrap_or_default());
        let key = (namespace, name.into());
        self.owners.relist(O::KIND).seen(&key);
        let age = Age::of(metadata);
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.owner(O::KIND, name));
        if kept.is_some_and(|(_, kept_age)| age.is_stale_beside(kept_age)) {
            return false;
        }
        if let Some(job) = object.of_queue_job() {
            let standing = kept.is_some();
            let former = self.namespaces.get(&key.0).and_then(|entry| entry.task_jobs.get(&key.1));
            if former.is_some_and(|former| age.is_stale_beside(former.age)) {
                return false;
            }
            let removed = standing && self.remove_owner(O::KIND, &key);
            return self.put_task_job(&key.0, &key.1, Some(job)) | removed;
        }
        let is_leaving = metadata.deletion_timestamp.is_some();
        let wanted = if is_leaving { 0 } else { object.wanted() };
        let said = Said::of(metadata, object.written());
        let rightful = said.former.filter(|_| !is_leaving).map_or(wanted, |former| object.wanted_at(former));
        let Some(template) = object.template().filter(|_| wanted > 0 || rightful > 0) else {
            return kept.is_some() && self.remove_owner(O::KIND, &key);
        };
        let refusal = object.refusal();
        let (mut owner, asked) = self.read_owner(O::KIND, metadata, &key, wanted, template);
        if let Refusal::Other(said) = refusal {
            owner.rejected = Some(self.texts.get(said));
        }
        (owner.succeeded, owner.fails) = object.outcome();
        owner.controller = controller(&mut self.texts, metadata).map(Arc::new);
        let controller = owner.controller.clone();
        // What the quota was counted against had all the requests that it demands.
        let named = refusal == Refusal::QuotaUsedUp;
        let unspecified = if named { Unspecified::default() } else { unspecified(template.spec.as_ref()) };
        let note = OwnerNote { age, asked, wanted, rightful, said, controller, unspecified };
        self.keep_owner(&key.0, owner, note)
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.owners.relist(O::KIND).seen(&object.key());
        false
    }

    fn excess(object: &O) -> Option<String> {
        object.template().and_then(|template| template.spec.as_ref()).and_then(placement::excess)
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = (Namespace::from(namespace), name.into());
        if self.is_task_job(O::KIND, &key, Some(uid)) {
            self.owners.relist(O::KIND).seen(&key);
            return self.put_task_job(&key.0, &key.1, None);
        }
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.owner(O::KIND, name));
        kept.is_some_and(|(kept, _)| kept.uid.as_str() == uid) && self.remove_owner(O::KIND, &key)
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            let of_queue_jobs = entry.task_jobs.keys().filter(|_| O::KIND == OwnerKind::Job);
            entry.owner_names(O::KIND).chain(of_queue_jobs).map(|name| (namespace.clone(), name.clone()))
        });
        self.owners.relist(O::KIND).begin(kept);
    }

    fn relist_loss(&self) -> ListLoss {
        self.owners.loss(O::KIND)
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.owners.relist(O::KIND).finish();
        missing.iter().fold(false, |changed, key| {
            let removed = if self.is_task_job(O::KIND, key, None) {
                self.put_task_job(&key.0, &key.1, None)
            } else {
                self.remove_owner(O::KIND, key)
            };
            removed | changed
        })
    }
}

impl Index {
    /// Whether a Job of a QueueJob is kept under this name, and has this uid if one is given.
    fn is_task_job(&self, kind: OwnerKind, (namespace, name): &Key, uid: Option<&str>) -> bool {
        let kept = self.namespaces.get(namespace).and_then(|entry| entry.task_jobs.get(name));
        kind == OwnerKind::Job && kept.is_some_and(|kept| uid.is_none_or(|uid| *kept.seen.uid == *uid))
    }

    /// Keeps `owner`, with what it names no request for beside the defaults of its namespace. Says whether anything changed
    /// that a decision depends on.
    pub(crate) fn keep_owner(&mut self, namespace: &Namespace, mut owner: Owner, note: OwnerNote) -> bool {
        let defaults_known = self.limit_ranges.is_listed();
        let entry = self.namespaces.entry(namespace.clone()).or_default();
        if defaults_known {
            owner.unspecified = entry.without_default(note.unspecified);
        }
        entry.put_owner(owner, note)
    }

    pub(crate) fn read_owner(
        &mut self,
        kind: OwnerKind,
        metadata: &ObjectMeta,
        key: &Key,
        wanted: u32,
        template: &PodTemplateSpec,
    ) -> (Owner, AskedPriority) {
        let (namespace, name) = key;
        // Manifests have no uids; there the pods name their owner in the same way.
        let uid = match metadata.uid.as_deref() {
            Some(uid) if !uid.is_empty() => self.texts.get(uid),
            _ => format!("{namespace}/{}/{name}", kind.name()).into(),
        };
        let uid = OwnerUid::new(uid);
        let spec = template.spec.as_ref();
        let asked = spec.map_or(AskedPriority::Default, AskedPriority::of);
        let requested = effective_requests(spec, None);
        let shape = Shape {
            requests: requested.amounts,
            placement: spec.map(placement).unwrap_or_default(),
            left_out: requested.left_out,
        };
        let gang = template.metadata.as_ref().and_then(|metadata| stated(metadata, spec, Some(&uid)));
        let owner = Owner {
            kind,
            name: name.clone(),
            generation: metadata.generation.unwrap_or_default(),
            created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
            wanted,
            shape: self.shapes.get(shape),
            gang: gang.map(|stated| self.gang(namespace, stated)),
            priority: self.priority_classes.resolve(&asked),
            size: Size::default(),
            controller: None,
            rejected: None,
            succeeded: 0,
            fails: false,
            unspecified: Unspecified::default(),
            uid,
        };
        (owner, asked)
    }

    fn remove_owner(&mut self, kind: OwnerKind, key: &Key) -> bool {
        let (namespace, name) = key;
        self.owners.relist(kind).seen(key);
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let changed = entry.remove_owner(kind, name);
        self.drop_if_empty(namespace);
        changed
    }
}
