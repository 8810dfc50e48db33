//! Objects that cannot be decoded: which ones the index tells of.

use std::sync::Arc;

use quotient_engine::names::Namespace;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::namespace::NamespaceEntry;
use crate::skipped::SkippedObject;
use crate::tables::Table;

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
