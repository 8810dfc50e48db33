//! Objects that cannot be decoded, by namespace: the condition of a Queue names them.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::names::Namespace;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::namespace::NamespaceEntry;
use crate::table::{Key, Table};

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
    of_namespaces: BTreeMap<Namespace, Arc<Vec<SkippedObject>>>,
    tables: BTreeMap<Arc<str>, Table<Arc<str>>>,
}

impl SkippedObjects {
    /// Keeps `object`, unless the namespace has as many already. Says whether that is news.
    fn insert(&mut self, namespace: Namespace, object: SkippedObject) -> bool {
        self.seen(&object.kind, &(namespace.clone(), object.name.clone()));
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
    fn remove(&mut self, kind: &str, key: &Key) -> bool {
        self.seen(kind, key);
        let (namespace, name) = key;
        let Some(objects) = self.of_namespaces.get_mut(namespace) else { return false };
        let Ok(at) = find(objects, kind, name) else { return false };
        Arc::make_mut(objects).remove(at);
        if objects.is_empty() {
            self.of_namespaces.remove(namespace);
        }
        true
    }

    fn seen(&mut self, kind: &str, key: &Key) {
        if let Some(table) = self.tables.get_mut(kind) {
            table.seen(key);
        }
    }
}

fn find(objects: &[SkippedObject], kind: &str, name: &str) -> Result<usize, usize> {
    objects.binary_search_by(|kept| (&*kept.kind, &*kept.name).cmp(&(kind, name)))
}

impl Index {
    /// The objects of a namespace that exist and cannot be decoded, at most eight; none if all can.
    pub fn skipped_objects(&self, namespace: &Namespace) -> Option<&Arc<Vec<SkippedObject>>> {
        self.skipped.of_namespaces.get(namespace)
    }

    /// An object of `kind` cannot be decoded. Says whether a condition has to tell that.
    pub(crate) fn skip(&mut self, kind: Arc<str>, object: &Undecodable) -> bool {
        let (namespace, name) = object.key();
        // No Queue is in the namespace of a node.
        if namespace.as_str().is_empty() {
            return false;
        }
        let skipped = SkippedObject { kind, name, error: object.error.clone() };
        self.skipped.insert(namespace.clone(), skipped) && self.is_managed(&namespace)
    }

    /// An object of the kind that `kind` returns can be decoded, or is gone. Says whether a condition has to tell that.
    pub(crate) fn end_skip(
        &mut self,
        kind: impl FnOnce() -> Arc<str>,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> bool {
        // Almost always, and for every object.
        if self.skipped.of_namespaces.is_empty() {
            return false;
        }
        let key = (Namespace::from(namespace.unwrap_or_default()), name.unwrap_or_default().into());
        self.skipped.remove(&kind(), &key) && self.is_managed(&key.0)
    }

    /// A full list of a kind begins.
    pub(crate) fn begin_skipped(&mut self, kind: Arc<str>) {
        let kept = self.skipped.of_namespaces.iter().flat_map(|(namespace, objects)| {
            let of_kind = objects.iter().filter(|object| object.kind == kind);
            of_kind.map(|object| (namespace.clone(), object.name.clone()))
        });
        let kept = kept.collect();
        self.skipped.tables.entry(kind).or_default().begin(kept);
    }

    /// A full list of a kind ends: forgets the objects that it did not contain. Says whether a condition has to tell that.
    pub(crate) fn finish_skipped(&mut self, kind: &str) -> bool {
        let missing = self.skipped.tables.get_mut(kind).map(Table::finish).unwrap_or_default();
        missing
            .iter()
            .fold(false, |changed, key| (self.skipped.remove(kind, key) && self.is_managed(&key.0)) | changed)
    }

    fn is_managed(&self, namespace: &Namespace) -> bool {
        self.namespaces.get(namespace).is_some_and(NamespaceEntry::is_managed)
    }
}
