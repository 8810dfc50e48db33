//! Which objects cannot be decoded, or are kept in part, as conditions tell it.

use std::sync::Arc;

use quotient_snapshot::names::Namespace;

use super::Kind;
use crate::index::Index;
use crate::meta::Key;
use crate::namespace::NamespaceEntry;
use crate::skipped::SkippedObject;

impl Index {
    /// The objects of a namespace that exist and cannot be decoded, at most eight; none if all can.
    pub fn skipped_objects(&self, namespace: &Namespace) -> Option<&Arc<Vec<SkippedObject>>> {
        self.skipped.of_namespaces.get(namespace)
    }

    /// The object under `key` cannot be decoded, or is kept in part. Says whether a condition has to tell that.
    pub(super) fn skip<K: Kind>(&mut self, of: &K::DynamicType, key: &Key, error: String) -> bool {
        let (namespace, name) = key;
        // No Queue is in the namespace of a node.
        if namespace.as_str().is_empty() {
            return false;
        }
        let skipped = SkippedObject { kind: K::kind_name(of).into(), name: Arc::clone(name), error };
        self.skipped.insert(namespace.clone(), skipped) && self.is_managed(namespace)
    }

    /// The object under `key` can be decoded, or is gone. Says whether a condition has to tell that.
    pub(super) fn end_skip<K: Kind>(&mut self, of: &K::DynamicType, key: &Key) -> bool {
        // Almost always, and for every object.
        if self.skipped.of_namespaces.is_empty() {
            return false;
        }
        self.skipped.remove(&K::kind_name(of), key) && self.is_managed(&key.0)
    }

    fn is_managed(&self, namespace: &Namespace) -> bool {
        self.namespaces.get(namespace).is_some_and(NamespaceEntry::is_managed)
    }
}
