//! How objects of configured kinds come in.

use std::sync::Arc;

use quotient_snapshot::names::OwnerUid;
use quotient_snapshot::{Owner, OwnerKind, Shape};

use super::object::WorkloadObject;
use super::pods::{owner_name, owner_uid};
use super::setting::WorkloadKind;
use crate::decoded::Decoded;
use crate::index::Index;
use crate::meta::{Age, Key, key};
use crate::namespace::OwnerNote;
use crate::owner_references::controller;
use crate::pod_requests::{Defaultable, unspecified};
use crate::tables::{KindId, Table};

/// As [`Indexed`](crate::Indexed), which is written for types: of these kinds there is one type for all.
impl Index {
    /// Takes an object in, new or changed. Says whether anything changed that a decision depends on.
    pub fn apply_workload(&mut self, kind: &WorkloadKind, object: &Decoded<WorkloadObject>) -> bool {
        let owner_kind = OwnerKind::Configured(kind.kind);
        let object = match &object.0 {
            Ok(object) => object,
            Err(undecodable) => {
                let key = key(&undecodable.metadata);
                self.workloads(owner_kind).seen(&key);
                return self.skip(kind.name.into(), key, undecodable.error.clone());
            }
        };
        let readable = self.end_skip(|| kind.name.into(), || key(&object.metadata));
        self.apply_readable(owner_kind, object) | readable
    }

    fn apply_readable(&mut self, owner_kind: OwnerKind, object: &WorkloadObject) -> bool {
        let metadata = &object.metadata;
        let key = key(metadata);
        if key.0.as_str().is_empty() || key.1.is_empty() {
            return false;
        }
        self.workloads(owner_kind).seen(&key);
        let age = Age::of(metadata);
        let kept = self.workload(owner_kind, &key);
        if kept.is_some_and(|(_, kept_age)| age.is_stale_beside(kept_age)) {
            return false;
        }
        let former = kept.map(|(owner, _)| owner.uid.clone());
        let wants_none = object.pods.iter().all(|pods| pods.replicas == 0);
        if wants_none || metadata.deletion_timestamp.is_some() {
            return former.is_some_and(|former| self.remove_workload(owner_kind, &key, &former));
        }
        let mut changed = false;
        let mut shapes: Vec<Arc<Shape>> = Vec::new();
        let mut uid = OwnerUid::default();
        for (at, pods) in object.pods.iter().enumerate() {
            let (mut owner, asked) =
                self.read_owner(owner_kind, metadata, &key, pods.replicas, &pods.template);
            owner.controller = controller(&mut self.texts, metadata).map(Arc::new);
            uid = if at == 0 { owner.uid.clone() } else { uid };
            owner.name = owner_name(&key.1, at);
            owner.uid = owner_uid(&uid, at);
            let name = Arc::clone(&owner.name);
            let note = OwnerNote {
                age,
                asked,
                wanted: pods.replicas,
                rightful: pods.replicas,
                controller: owner.controller.clone(),
                unspecified: unspecified(pods.template.spec.as_ref()),
                defaultable: Defaultable::of(pods.template.spec.as_ref()),
                ..OwnerNote::default()
            };
            changed |= self.keep_owner(&key.0, owner, note);
            let kept = self.entry(&key.0).and_then(|entry| entry.owner(owner_kind, &name));
            shapes.extend(kept.map(|(owner, _)| Arc::clone(&owner.shape)));
        }
        changed |= self.remove_owners_from(owner_kind, &key, shapes.len());
        if let Some(former) = former.filter(|former| *former != uid) {
            changed |= self.divide_pods(&key.0, &former, &[]);
        }
        changed | self.divide_pods(&key.0, &uid, &shapes)
    }

    /// Forgets the object of this name. A successor under the same name, with another uid, stays.
    pub fn delete_workload(&mut self, kind: &WorkloadKind, namespace: &str, name: &str, uid: &str) -> bool {
        let gone = self.end_skip(|| kind.name.into(), || (namespace.into(), name.into()));
        let kind = OwnerKind::Configured(kind.kind);
        let key: Key = (namespace.into(), name.into());
        let kept = self.workload(kind, &key).map(|(owner, _)| owner.uid.clone());
        kept.is_some_and(|kept| kept.as_str() == uid && self.remove_workload(kind, &key, &kept)) | gone
    }

    /// Starts a full list of the kind.
    pub fn begin_workloads(&mut self, kind: &WorkloadKind) {
        self.begin_skipped(kind.name.into());
        let kind = OwnerKind::Configured(kind.kind);
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            let objects = entry.owner_names(kind).filter(|name| !name.contains('/'));
            objects.map(|name| (namespace.clone(), name))
        });
        let kept = kept.collect();
        self.workloads(kind).begin(kept);
    }

    /// Ends a full list of the kind: forgets the objects that it did not contain.
    pub fn finish_workloads(&mut self, kind: &WorkloadKind) -> bool {
        let gone = self.finish_skipped(kind.name);
        let kind = OwnerKind::Configured(kind.kind);
        let missing = self.workloads(kind).finish();
        missing.iter().fold(gone, |changed, key| {
            let kept = self.workload(kind, key).map(|(owner, _)| owner.uid.clone());
            kept.is_some_and(|uid| self.remove_workload(kind, key, &uid)) | changed
        })
    }

    /// The first owner that is kept of this object, and its age.
    fn workload(&self, kind: OwnerKind, (namespace, name): &Key) -> Option<(&Owner, Age)> {
        self.namespaces.get(namespace)?.owner(kind, name)
    }

    fn workloads(&mut self, kind: OwnerKind) -> &mut Table {
        self.table(KindId::Owner(kind))
    }

    fn remove_workload(&mut self, kind: OwnerKind, key: &Key, uid: &OwnerUid) -> bool {
        self.workloads(kind).seen(key);
        let removed = self.remove_owners_from(kind, key, 0);
        let divided = self.divide_pods(&key.0, uid, &[]);
        self.drop_if_empty(&key.0);
        removed | divided
    }

    /// Forgets the owners of an object from the one at `first` on.
    fn remove_owners_from(&mut self, kind: OwnerKind, (namespace, name): &Key, first: usize) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let mut changed = false;
        for at in first.. {
            let name = owner_name(name, at);
            if entry.owner(kind, &name).is_none() {
                break;
            }
            changed |= entry.remove_owner(kind, &name);
        }
        changed
    }
}
