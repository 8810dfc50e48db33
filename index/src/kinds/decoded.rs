//! Objects as watches and replies deliver them: one that cannot be decoded is skipped, and told.

use std::sync::Arc;

use kube::Resource;
use quotient_snapshot::names::Namespace;

use crate::decoded::{Decoded, Undecodable};
use crate::index::Index;
use crate::indexed::{Indexed, ListLoss};
use crate::meta::{Key, ResourceVersion, key};
use crate::namespace::NamespaceEntry;
use crate::skipped::SkippedObject;
use crate::tables::Table;

impl Index {
    /// Notes whether a part of an object is too much to be kept.
    fn note_excess<K: Resource<DynamicType = ()>>(&mut self, read: &K) -> bool
    where
        Self: Indexed<K>,
    {
        match Self::excess(read) {
            Some(why) => self.skip(kind_name::<K>(), key(read.meta()), why),
            None => self.end_skip(kind_name::<K>, || key(read.meta())),
        }
    }
}

/// Objects as watches and replies deliver them. Feed one index with these or with plain objects, not with both.
impl<K: Resource<DynamicType = ()>> Indexed<Decoded<K>> for Index
where
    Self: Indexed<K>,
{
    fn apply(&mut self, object: &Decoded<K>) -> bool {
        match &object.0 {
            Ok(read) => self.note_excess(read) | Indexed::<K>::apply(self, read),
            Err(undecodable) => Indexed::<Decoded<K>>::apply_undecodable(self, undecodable),
        }
    }

    fn apply_reply(&mut self, object: &Decoded<K>) -> bool {
        match &object.0 {
            Ok(read) => self.note_excess(read) | Indexed::<K>::apply_reply(self, read),
            Err(undecodable) => Indexed::<Decoded<K>>::apply_undecodable(self, undecodable),
        }
    }

    fn seen_up_to(&mut self, version: &ResourceVersion) -> bool {
        Indexed::<K>::seen_up_to(self, version)
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.skip(kind_name::<K>(), key(&object.metadata), object.error.clone())
            | Indexed::<K>::apply_undecodable(self, object)
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let gone = self.end_skip(kind_name::<K>, || (namespace.into(), name.into()));
        Indexed::<K>::delete(self, namespace, name, uid) | gone
    }

    fn relist_begin(&mut self) {
        self.begin_skipped(kind_name::<K>());
        Indexed::<K>::relist_begin(self);
    }

    fn relist_loss(&self) -> ListLoss {
        Indexed::<K>::relist_loss(self)
    }

    fn relist_finish(&mut self) -> bool {
        self.finish_skipped(&kind_name::<K>()) | Indexed::<K>::relist_finish(self)
    }
}

/// What kubectl calls the kind: `pods`, `poddisruptionbudgets.policy`.
fn kind_name<K: Resource<DynamicType = ()>>() -> Arc<str> {
    let (plural, group) = (K::plural(&()), K::group(&()));
    if group.is_empty() { plural.into() } else { format!("{plural}.{group}").into() }
}

impl Index {
    /// The objects of a namespace that exist and cannot be decoded, at most eight; none if all can.
    pub fn skipped_objects(&self, namespace: &Namespace) -> Option<&Arc<Vec<SkippedObject>>> {
        self.skipped.of_namespaces.get(namespace)
    }

    /// An object of `kind` cannot be decoded. Says whether a condition has to tell that.
    pub(crate) fn skip(&mut self, kind: Arc<str>, (namespace, name): Key, error: String) -> bool {
        // No Queue is in the namespace of a node.
        if namespace.as_str().is_empty() {
            return false;
        }
        let skipped = SkippedObject { kind, name, error };
        self.skipped.insert(namespace.clone(), skipped) && self.is_managed(&namespace)
    }

    /// An object of the kind that `kind` returns can be decoded, or is gone. Says whether a condition has to tell that.
    pub(crate) fn end_skip(&mut self, kind: impl FnOnce() -> Arc<str>, key: impl FnOnce() -> Key) -> bool {
        // Almost always, and for every object.
        if self.skipped.of_namespaces.is_empty() {
            return false;
        }
        let key = key();
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
