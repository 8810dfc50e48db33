//! Objects that cannot be decoded, by namespace: the condition of a Queue names them.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_snapshot::names::Namespace;

use crate::meta::Key;

/// The most objects of one namespace that are kept. The message of a condition has room for one name and a number, and a tenant
/// can create objects that cannot be decoded by the thousand.
const MOST_PER_NAMESPACE: usize = 8;

/// An object that exists and cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedObject {
    /// Its kind, such as `poddisruptionbudgets.policy`.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The field that cannot be decoded, and why.
    pub error: String,
}

/// The objects that cannot be decoded, of each namespace in the order of kinds and names.
#[derive(Debug, Default)]
pub(crate) struct SkippedObjects {
    pub(crate) of_namespaces: BTreeMap<Namespace, Arc<Vec<SkippedObject>>>,
}

impl SkippedObjects {
    /// Keeps `object`, unless the namespace has as many already. Says whether that is news.
    pub(crate) fn insert(&mut self, namespace: Namespace, object: SkippedObject) -> bool {
        let objects = Arc::make_mut(self.of_namespaces.entry(namespace).or_default());
        match find(objects, &object.kind, &object.name) {
            Ok(at) => objects.get_mut(at).is_some_and(|kept| {
                let changed = *kept != object;
                *kept = object;
                changed
            }),
            Err(at) => {
                let has_room = objects.len() < MOST_PER_NAMESPACE;
                if has_room {
                    objects.insert(at, object);
                }
                has_room
            }
        }
    }

    /// Forgets an object. Says whether it was kept.
    pub(crate) fn remove(&mut self, kind: &str, (namespace, name): &Key) -> bool {
        let Some(objects) = self.of_namespaces.get_mut(namespace) else { return false };
        let Ok(at) = find(objects, kind, name) else { return false };
        Arc::make_mut(objects).remove(at);
        if objects.is_empty() {
            self.of_namespaces.remove(namespace);
        }
        true
    }

    /// The keys of the objects of a kind.
    pub(crate) fn keys(&self, kind: &str) -> impl Iterator<Item = Key> {
        self.of_namespaces.iter().flat_map(move |(namespace, objects)| {
            let of_kind = objects.iter().filter(move |object| *object.kind == *kind);
            of_kind.map(|object| (namespace.clone(), object.name.clone()))
        })
    }
}

fn find(objects: &[SkippedObject], kind: &str, name: &str) -> Result<usize, usize> {
    objects.binary_search_by(|kept| (&*kept.kind, &*kept.name).cmp(&(kind, name)))
}
