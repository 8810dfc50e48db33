//! Owners and those that name them get the same ids.
//!
//! Manifests written by hand have no uids: there a pod names its owner by kind and name. What was read from a cluster
//! has them. Where the two meet, the ids that are there are taken over.

use std::collections::BTreeMap;

use crate::objects::{Kind, Object};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

/// Kind, namespace and name of an owner.
type Named = (String, String, String);

/// Gives every owner of pods a uid, and everything that names its controller by kind and name alone that uid.
pub(super) fn identify(objects: &mut [Object]) {
    let mut known: BTreeMap<Named, String> = BTreeMap::new();
    for object in &*objects {
        if let Some(owner) = object.controller().filter(|owner| !owner.uid.is_empty()) {
            known.entry(of_reference(object.metadata(), owner)).or_insert_with(|| owner.uid.clone());
        }
    }
    for object in objects.iter_mut().filter(|object| object.kind().owns_pods()) {
        let named = of_object(object.kind(), object.metadata());
        let metadata = object.metadata_mut();
        if metadata.uid.as_deref().is_none_or(str::is_empty) {
            metadata.uid = Some(known.get(&named).cloned().unwrap_or_else(|| stand_in(&named)));
        }
        known.insert(named, metadata.uid.clone().unwrap_or_default());
    }
    for object in objects {
        let metadata = object.metadata();
        let Some(owner) = object.controller().filter(|owner| owner.uid.is_empty()) else { continue };
        let named = of_reference(metadata, owner);
        let uid = known.get(&named).cloned().unwrap_or_else(|| stand_in(&named));
        let owners = object.metadata_mut().owner_references.iter_mut().flatten();
        for owner in owners.filter(|owner| owner.controller == Some(true) && owner.uid.is_empty()) {
            owner.uid.clone_from(&uid);
        }
    }
}

fn of_object(kind: Kind, metadata: &ObjectMeta) -> Named {
    (kind.name().to_owned(), namespace(metadata), metadata.name.clone().unwrap_or_default())
}

/// An owner is in the namespace of what it owns.
fn of_reference(metadata: &ObjectMeta, owner: &OwnerReference) -> Named {
    (owner.kind.clone(), namespace(metadata), owner.name.clone())
}

fn namespace(metadata: &ObjectMeta) -> String {
    metadata.namespace.clone().unwrap_or_default()
}

/// A uid that no real cluster has, the same whenever the same manifests are read.
fn stand_in((kind, namespace, name): &Named) -> String {
    format!("{namespace}/{kind}/{name}")
}
