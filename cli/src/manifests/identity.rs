//! Owners and those that name them get the same ids.
//!
//! Manifests written by hand have no uids: there a pod names its owner by kind and name. What was read from a cluster
//! has them. Where the two meet, the ids that are there are taken over.

use std::collections::BTreeMap;

use crate::objects::Object;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

/// Kind, namespace and name of an owner.
type Named = (String, String, String);

/// Gives every owner of pods a uid, and everything that names its controller by kind and name alone that uid.
pub(super) fn identify(objects: &mut [Object]) {
    let mut known: BTreeMap<Named, String> = BTreeMap::new();
    for object in &*objects {
        if let Some(owner) = object.controller().filter(|owner| !owner.uid.is_empty()) {
            known.entry(of_reference(object, owner)).or_insert_with(|| owner.uid.clone());
        }
    }
    for object in objects.iter_mut().filter(|object| object.kind().owns_pods()) {
        let named =
            (object.kind().name().to_owned(), object.namespace().to_owned(), object.name().to_owned());
        let metadata = object.metadata_mut();
        if metadata.uid.as_deref().is_none_or(str::is_empty) {
            metadata.uid = Some(known.get(&named).cloned().unwrap_or_else(|| stand_in(&named)));
        }
        known.insert(named, metadata.uid.clone().unwrap_or_default());
    }
    for object in objects {
        let Some(owner) = object.controller().filter(|owner| owner.uid.is_empty()) else { continue };
        let named = of_reference(object, owner);
        let uid = known.get(&named).cloned().unwrap_or_else(|| stand_in(&named));
        let owners = object.metadata_mut().owner_references.iter_mut().flatten();
        for owner in owners.filter(|owner| owner.controller == Some(true) && owner.uid.is_empty()) {
            owner.uid.clone_from(&uid);
        }
    }
}

/// An owner is in the namespace of what it owns.
fn of_reference(object: &Object, owner: &OwnerReference) -> Named {
    (owner.kind.clone(), object.namespace().to_owned(), owner.name.clone())
}

/// A uid that no real cluster has, the same whenever the same manifests are read.
fn stand_in((kind, namespace, name): &Named) -> String {
    format!("{namespace}/{kind}/{name}")
}
