//! What watches, lists and replies do with the objects of every kind, written once.
//!
//! A kind says how its objects are read and where what is kept of them stands ([`Kind`]). Which of two versions is newer, what
//! a list did not contain and what was deleted is found out here.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_snapshot::names::Namespace;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::indexed::{Indexed, ListLoss};
use crate::meta::{Age, Kept, Key, Meta, ResourceVersion, key};
use crate::namespace::NamespaceEntry;
use crate::reading::uid_of;
use crate::tables::{KindId, Table};

/// A kind of object: how it is read, and where what is kept of it stands.
///
/// Of a key for which nothing is kept, `remove` changes nothing and says so.
pub(crate) trait Kind: Resource<DynamicType = ()> {
    /// Which kind it is.
    const ID: KindId;

    /// Whether a list that lacks many of the kept objects is doubted.
    const LISTS_ARE_DOUBTED: bool = false;

    /// Whether the operator writes objects of this name. The reply to a write may come after the object is known to be deleted.
    fn is_written(_name: &str) -> bool {
        false
    }

    /// What of the object is too much to be kept, if anything is.
    fn excess(&self) -> Option<String> {
        None
    }

    /// What is kept under `key`.
    fn kept<'i>(index: &'i Index, key: &Key) -> Option<Kept<'i>>;

    /// Every key under which something is kept.
    fn keys(index: &Index) -> impl Iterator<Item = Key>;

    /// Keeps what matters of `object`, which is no older than what is kept. Says whether a decision depends on the difference.
    fn put(index: &mut Index, key: Key, meta: Meta, object: &Self) -> bool;

    /// The same for an object that cannot be decoded. Most kinds leave what is kept as it is.
    fn put_undecodable(_index: &mut Index, _key: Key, _meta: Meta, _object: &Undecodable) -> bool {
        false
    }

    /// Forgets what is kept under `key`. Says whether a decision depends on the difference.
    fn remove(index: &mut Index, key: &Key) -> bool;

    /// The watch has delivered every change up to this age. Says whether a decision depends on that.
    fn seen_up_to(_index: &mut Index, _age: Age) -> bool {
        false
    }

    /// A full list has ended. Says whether a decision depends on that.
    fn listed(_index: &mut Index) -> bool {
        false
    }
}

impl<K: Kind> Indexed<K> for Index {
    fn apply(&mut self, object: &K) -> bool {
        let changed = self.apply_reply(object);
        let age = Age::of(object.meta());
        self.table(K::ID).advance(age).is_some_and(|age| K::seen_up_to(self, age)) | changed
    }

    fn apply_reply(&mut self, object: &K) -> bool {
        let admitted = self.admit::<K>(object.meta());
        admitted.is_some_and(|(key, meta)| K::put(self, key, meta, object))
    }

    fn seen_up_to(&mut self, version: &ResourceVersion) -> bool {
        K::seen_up_to(self, version.age())
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        let admitted = self.admit::<K>(&object.metadata);
        admitted.is_some_and(|(key, meta)| K::put_undecodable(self, key, meta, object))
    }

    fn excess(object: &K) -> Option<String> {
        K::excess(object)
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        if K::is_written(name) {
            self.table(K::ID).deleted.insert(uid);
        }
        let key = (Namespace::from(namespace), Arc::from(name));
        K::kept(self, &key).is_some_and(|kept| kept.uid == uid) && self.forget::<K>(&key)
    }

    fn relist_begin(&mut self) {
        let kept = K::keys(self).collect();
        self.table(K::ID).begin(kept);
    }

    fn relist_loss(&self) -> ListLoss {
        let table = self.tables.get(&K::ID).filter(|_| K::LISTS_ARE_DOUBTED);
        table.map(Table::loss).unwrap_or_default()
    }

    fn relist_finish(&mut self) -> bool {
        let table = self.table(K::ID);
        let (missing, newest) = (table.finish(), table.newest);
        let changed = missing.iter().fold(false, |changed, key| self.forget::<K>(key) | changed);
        K::seen_up_to(self, newest) | K::listed(self) | changed
    }
}

impl Index {
    /// The key and the version of an object that is neither older than what is kept under its name nor known to be deleted.
    fn admit<K: Kind>(&mut self, metadata: &ObjectMeta) -> Option<(Key, Meta)> {
        let uid = uid_of(metadata)?;
        let key = key(metadata);
        let table = self.table(K::ID);
        table.seen(&key);
        if K::is_written(&key.1) && table.deleted.contains(&uid) {
            return None;
        }
        let age = Age::of(metadata);
        let is_stale = K::kept(self, &key).is_some_and(|kept| age.is_stale_beside(kept.age));
        (!is_stale).then(|| (key, Meta { uid: (*uid).into(), age }))
    }

    /// Forgets the object under `key`, if there is one. Says whether a decision depends on the difference.
    pub(crate) fn forget<K: Kind>(&mut self, key: &Key) -> bool {
        if K::kept(self, key).is_none() {
            return false;
        }
        self.table(K::ID).seen(key);
        let changed = K::remove(self, key);
        self.drop_if_empty(&key.0);
        changed
    }

    /// What is remembered of the lists and the deletions of a kind.
    pub(crate) fn table(&mut self, kind: KindId) -> &mut Table {
        self.tables.entry(kind).or_default()
    }

    /// The keys of a kind of which every namespace has these names.
    pub(crate) fn keys<'i, I: Iterator<Item = Arc<str>>>(
        &'i self,
        names: impl Fn(&'i NamespaceEntry) -> I,
    ) -> impl Iterator<Item = Key> {
        let all = self.namespaces.iter();
        all.flat_map(move |(namespace, entry)| names(entry).map(|name| (namespace.clone(), name)))
    }

    /// What is kept of a namespace, if anything is.
    pub(crate) fn entry(&self, namespace: &Namespace) -> Option<&NamespaceEntry> {
        self.namespaces.get(namespace)
    }

    /// The same for keeping more of it.
    pub(crate) fn entry_mut(&mut self, namespace: &Namespace) -> &mut NamespaceEntry {
        self.namespaces.entry(namespace.clone()).or_default()
    }
}
