//! How owners come in.

use std::sync::Arc;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_snapshot::names::{Namespace, OwnerUid};
use quotient_snapshot::{Owner, OwnerKind, Unspecified};

use super::replicas::Refusal;
use crate::gangs::stated;
use crate::index::Index;
use crate::kinds::Kind;
use crate::meta::{Age, Kept, Key, Meta, timestamp};
use crate::namespace::{OpenRequests, OwnerNote};
use crate::owner_references::controller;
use crate::placement;
use crate::pod_requests::{Defaultable, shape, unspecified};
use crate::priority_classes::AskedPriority;
use crate::queue_jobs::TaskJob;
use crate::sizes::DeclaredReplicas;

/// How many pods of an owner have succeeded, have failed without being deleted, and are Ready.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) succeeded: u32,
    pub(crate) failed: u32,
    pub(crate) ready: u32,
}

/// An object that creates pods from a template.
pub(crate) trait OwnerObject: Resource<DynamicType = ()> + Send + 'static {
    /// Its kind.
    const KIND: OwnerKind;

    /// How many pods it wants alive now, its deletion aside.
    fn wanted(&self) -> u32;

    fn template(&self) -> Option<&PodTemplateSpec>;

    /// The number in its spec that says how many pods it wants.
    fn written(&self) -> u32 {
        self.wanted()
    }

    /// How many pods it would want alive now if `size` stood there.
    fn wanted_at(&self, size: u32) -> u32 {
        size
    }

    /// Why its last pod was refused, where its kind says that.
    fn refusal(&self) -> Refusal<'_> {
        Refusal::None
    }

    /// What became of its pods, where its kind says that.
    fn outcome(&self) -> Outcome {
        Outcome::default()
    }

    /// What `manualSelector` in its spec says, where its kind has that.
    fn manual_selector(&self) -> Option<bool> {
        None
    }

    /// What is kept of it where a QueueJob controls it, which then says what it wants.
    fn of_queue_job(&self) -> Option<TaskJob> {
        None
    }
}

/// ReplicaSets, StatefulSets, DaemonSets and Jobs, of which those that want no pods are not kept at all.
///
/// The reply to a requeue must not be applied: unlike for Queues and the quota `quotient`, deletions are not remembered. The
/// watch shows the same a moment later.
impl<O: OwnerObject> Kind for O {
    const LISTS_ARE_DOUBTED: bool = true;

    fn excess(&self) -> Option<String> {
        self.template().and_then(|template| template.spec.as_ref()).and_then(placement::excess)
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        let entry = index.entry(namespace)?;
        let owner = entry.owner(O::KIND, name);
        owner.map(|(owner, age)| Kept { uid: owner.uid.as_str(), age }).or_else(|| {
            let job = entry.task_jobs.get(name).filter(|_| O::KIND == OwnerKind::Job)?;
            Some(Kept { uid: &job.seen.uid, age: job.age })
        })
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(|entry| {
            let of_queue_jobs = entry.task_jobs.keys().filter(|_| O::KIND == OwnerKind::Job).cloned();
            entry.owner_names(O::KIND).chain(of_queue_jobs)
        })
    }

    fn put(index: &mut Index, (): &(), key: Key, _: Meta, object: &Self) -> bool {
        if let Some(job) = object.of_queue_job() {
            let removed = index.entry_mut(&key.0).remove_owner(O::KIND, &key.1);
            return index.put_task_job(&key.0, &key.1, Some(job)) | removed;
        }
        // Its owner reference may have been taken away.
        let released = index.forget_task_job(O::KIND, &key);
        let metadata = object.meta();
        let is_leaving = metadata.deletion_timestamp.is_some();
        let wanted = if is_leaving { 0 } else { object.wanted() };
        let declared = DeclaredReplicas::of(metadata, object.written());
        let rightful = declared
            .original_replicas
            .filter(|_| !is_leaving)
            .map_or(wanted, |former| object.wanted_at(former));
        let Some(template) = object.template().filter(|_| wanted > 0 || rightful > 0) else {
            return index.forget::<O>(&(), &key) | released;
        };
        let (mut owner, mut note) = index.read_owner(O::KIND, metadata, &key, wanted, template);
        match object.refusal() {
            // What the quota was counted against had all the requests that it demands.
            Refusal::QuotaUsedUp(requested) => {
                note.unspecified = Unspecified::default();
                note.open.get_or_insert_default().refused = requested;
            }
            Refusal::Other(text) => owner.rejected = Some(index.texts.get(text)),
            Refusal::None => {}
        }
        let Outcome { succeeded, failed, ready } = object.outcome();
        // Evicted pods count as failed. Those of an owner that had a Ready pod have shown that they can run.
        note.was_ready = ready > 0 || index.entry(&key.0).is_some_and(|entry| entry.was_ready(&owner));
        owner.succeeded = succeeded;
        owner.fails = failed > 0 && succeeded == 0 && !note.was_ready;
        (note.rightful, note.declared) = (rightful, declared);
        note.manual_selector = object.manual_selector();
        index.keep_owner(&key.0, owner, note) | released
    }

    fn remove(index: &mut Index, (): &(), key: &Key) -> bool {
        index.entry_mut(&key.0).remove_owner(O::KIND, &key.1) | index.forget_task_job(O::KIND, key)
    }
}

impl Index {
    /// Forgets the Job of a QueueJob, if that is kept under `key`. Says whether a decision depends on the difference.
    fn forget_task_job(&mut self, kind: OwnerKind, (namespace, name): &Key) -> bool {
        let entry = self.entry(namespace).filter(|_| kind == OwnerKind::Job);
        entry.is_some_and(|entry| entry.task_jobs.contains_key(name))
            && self.put_task_job(namespace, name, None)
    }

    /// Keeps `owner`. Says whether anything changed that a decision depends on.
    pub(crate) fn keep_owner(&mut self, namespace: &Namespace, owner: Owner, note: OwnerNote) -> bool {
        self.namespaces.entry(namespace.clone()).or_default().put_owner(owner, note)
    }

    /// What a template says of the pods that an object of this `kind` wants, and what only the index needs to know of it.
    pub(crate) fn read_owner(
        &mut self,
        kind: OwnerKind,
        metadata: &ObjectMeta,
        key: &Key,
        wanted: u32,
        template: &PodTemplateSpec,
    ) -> (Owner, OwnerNote) {
        let (namespace, name) = key;
        // Manifests have no uids; there the pods name their owner in the same way.
        let uid = match metadata.uid.as_deref() {
            Some(uid) if !uid.is_empty() => self.texts.get(uid),
            _ => format!("{namespace}/{}/{name}", kind.name()).into(),
        };
        let uid = OwnerUid::new(uid);
        let spec = template.spec.as_ref();
        let asked = spec.map(AskedPriority::of).unwrap_or_default();
        let gang = template.metadata.as_ref().and_then(|metadata| stated(metadata, spec, Some(&uid)));
        let states_gang = gang.is_some();
        let controlled = || self.entry(namespace)?.gang_by_controller(&uid);
        let gang = gang.map(|stated| self.gang(namespace, stated)).or_else(controlled);
        let owner = Owner {
            kind,
            name: name.clone(),
            generation: metadata.generation.unwrap_or_default(),
            created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
            wanted,
            shape: self.shapes.get(shape(spec)),
            gang,
            priority: self.priority_classes.resolve(&asked),
            controller: controller(&mut self.texts, metadata).map(Arc::new),
            uid,
            ..Owner::default()
        };
        let defaultable = Defaultable::of(spec);
        let note = OwnerNote {
            age: Age::of(metadata),
            template: Arc::clone(&owner.shape),
            asked,
            states_gang,
            wanted,
            rightful: wanted,
            unspecified: unspecified(spec),
            open: defaultable.map(|defaultable| {
                Box::new(OpenRequests { defaultable: Some(defaultable), ..OpenRequests::default() })
            }),
            ..OwnerNote::default()
        };
        (owner, note)
    }
}
