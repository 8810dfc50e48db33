//! How objects of configured kinds come in.

use std::borrow::Cow;

use kube::Resource as _;
use quotient_snapshot::OwnerKind;
use quotient_snapshot::names::OwnerUid;

use super::object::WorkloadObject;
use super::pods::{owner_name, owner_uid};
use super::setting::WorkloadKind;
use crate::index::Index;
use crate::kinds::Kind;
use crate::meta::{Kept, Key, Meta};

/// An object is kept as its owners, and its age and its uid are those of the first one.
impl Kind for WorkloadObject {
    const LISTS_ARE_DOUBTED: bool = true;

    fn kind_name(kind: &WorkloadKind) -> Cow<'_, str> {
        kind.name.into()
    }

    fn kept<'i>(index: &'i Index, kind: &WorkloadKind, (namespace, name): &Key) -> Option<Kept<'i>> {
        let (owner, age) = index.entry(namespace)?.owner(kind.owner_kind(), name)?;
        Some(Kept { uid: owner.uid.as_str(), age })
    }

    fn keys(index: &Index, kind: &WorkloadKind) -> impl Iterator<Item = Key> {
        index.keys(|entry| entry.owner_names(kind.owner_kind()).filter(|name| !name.contains('/')))
    }

    fn put(index: &mut Index, kind: &WorkloadKind, key: Key, _: Meta, object: &Self) -> bool {
        let metadata = object.meta();
        let wants_none = object.pods.iter().all(|pods| pods.replicas == 0);
        // What is in no namespace is in no queue.
        if wants_none || metadata.deletion_timestamp.is_some() || key.0.as_str().is_empty() {
            return index.forget::<Self>(kind, &key);
        }
        let owner_kind = kind.owner_kind();
        let former = Self::kept(index, kind, &key).map(|kept| OwnerUid::from(kept.uid));
        let mut changed = false;
        let mut uid = OwnerUid::default();
        for (at, pods) in object.pods.iter().enumerate() {
            let (mut owner, note) =
                index.read_owner(owner_kind, metadata, &key, pods.replicas, &pods.template);
            uid = if at == 0 { owner.uid.clone() } else { uid };
            owner.name = owner_name(&key.1, at);
            owner.uid = owner_uid(&uid, at);
            changed |= index.keep_owner(&key.0, owner, note);
        }
        changed |= index.remove_owners_from(owner_kind, &key, object.pods.len());
        if let Some(former) = former.filter(|former| *former != uid) {
            changed |= index.divide_pods(&key.0, &former, Vec::new());
        }
        let templates = object.pods.iter().map(|pods| pods.requests.clone()).collect();
        changed | index.divide_pods(&key.0, &uid, templates)
    }

    fn remove(index: &mut Index, kind: &WorkloadKind, key: &Key) -> bool {
        let uid = Self::kept(index, kind, key).map(|kept| OwnerUid::from(kept.uid));
        let removed = index.remove_owners_from(kind.owner_kind(), key, 0);
        uid.is_some_and(|uid| index.divide_pods(&key.0, &uid, Vec::new())) | removed
    }
}

impl Index {
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
