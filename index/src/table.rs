//! What watches, lists and replies do with the objects of every kind, written once.
//!
//! A kind says how its objects are read and where what is kept of them stands ([`Kind`]). Which of two versions is newer, what
//! a list did not contain and what was deleted is found out here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_engine::names::{Namespace, PodName};
use quotient_engine::snapshot::OwnerKind;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::indexed::{Indexed, ListLoss};
use crate::namespace::NamespaceEntry;
use crate::reading::uid_of;
use crate::resource_version::{Age, ResourceVersion};
use crate::tombstones::Tombstones;

/// What tells one object of a kind from another: its namespace, empty for kinds that are in none, and its name.
pub(crate) type Key<N = Arc<str>> = (Namespace, N);

/// What tells one life and one version of an object from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Its uid.
    pub(crate) uid: Arc<str>,
    /// How new it is.
    pub(crate) age: Age,
}

impl Meta {
    /// The same for comparison.
    pub(crate) fn kept(&self) -> Kept<'_> {
        Kept { uid: &self.uid, age: self.age }
    }
}

/// The uid and the age of what is kept of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept<'k> {
    pub(crate) uid: &'k str,
    pub(crate) age: Age,
}

/// A kind of object: how it is read, and where what is kept of it stands.
///
/// Of a key for which nothing is kept, `remove` changes nothing and says so.
pub(crate) trait Kind: Resource<DynamicType = ()> {
    /// What the names of its objects are kept as.
    type Name: ObjectName;

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
    fn kept<'i>(index: &'i Index, key: &Key<Self::Name>) -> Option<Kept<'i>>;

    /// Every key under which something is kept.
    fn keys(index: &Index) -> impl Iterator<Item = Key<Self::Name>>;

    /// Keeps what matters of `object`, which is no older than what is kept. Says whether a decision depends on the difference.
    fn put(index: &mut Index, key: Key<Self::Name>, meta: Meta, object: &Self) -> bool;

    /// The same for an object that cannot be decoded. Most kinds leave what is kept as it is.
    fn put_undecodable(
        _index: &mut Index,
        _key: Key<Self::Name>,
        _meta: Meta,
        _object: &Undecodable,
    ) -> bool {
        false
    }

    /// Forgets what is kept under `key`. Says whether a decision depends on the difference.
    fn remove(index: &mut Index, key: &Key<Self::Name>) -> bool;

    /// The watch has told every change up to this age. Says whether a decision depends on that.
    fn told(_index: &mut Index, _age: Age) -> bool {
        false
    }

    /// A full list has ended. Says whether a decision depends on that.
    fn listed(_index: &mut Index) -> bool {
        false
    }
}

/// Which kind a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KindId {
    Autoscaler,
    Budget,
    Deployment,
    LimitRange,
    Namespace,
    Node,
    Owner(OwnerKind),
    Pod,
    /// PodGroups, by their place among the versions that serve them.
    PodGroup(usize),
    PriorityClass,
    Queue,
    QueueJob,
    Quota,
}

/// What the names of the objects of one kind are kept as.
pub(crate) trait ObjectName: Clone + Ord + for<'t> From<&'t str> + 'static {
    /// The tables of the kinds whose names are kept so.
    fn tables(all: &Tables) -> &BTreeMap<KindId, Table<Self>>;

    /// The same for changing them.
    fn tables_mut(all: &mut Tables) -> &mut BTreeMap<KindId, Table<Self>>;
}

impl ObjectName for Arc<str> {
    fn tables(all: &Tables) -> &BTreeMap<KindId, Table<Self>> {
        &all.others
    }

    fn tables_mut(all: &mut Tables) -> &mut BTreeMap<KindId, Table<Self>> {
        &mut all.others
    }
}

/// A list of 150,000 pods shares its names with what is kept of them.
impl ObjectName for PodName {
    fn tables(all: &Tables) -> &BTreeMap<KindId, Table<Self>> {
        &all.pods
    }

    fn tables_mut(all: &mut Tables) -> &mut BTreeMap<KindId, Table<Self>> {
        &mut all.pods
    }
}

/// The tables of all kinds.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pods: BTreeMap<KindId, Table<PodName>>,
    others: BTreeMap<KindId, Table<Arc<str>>>,
}

impl Tables {
    /// The table of this kind.
    pub(crate) fn of<N: ObjectName>(&mut self, kind: KindId) -> &mut Table<N> {
        N::tables_mut(self).entry(kind).or_default()
    }
}

/// What is remembered of the objects of one kind as a whole.
///
/// Holding what a list lacks, rather than a mark on every entry, costs memory only while a list runs, and a typed list is never
/// buffered.
#[derive(Debug)]
pub(crate) struct Table<N> {
    /// The keys that were kept when the running list began and that it has not contained so far; none if no list runs.
    missing: Option<BTreeSet<Key<N>>>,
    /// How many were kept when it began.
    kept: usize,
    /// The newest object that it has contained so far.
    newest: Age,
    deleted: Tombstones,
}

impl<N> Default for Table<N> {
    fn default() -> Self {
        Self { missing: None, kept: 0, newest: Age::default(), deleted: Tombstones::default() }
    }
}

impl<N: Ord> Table<N> {
    /// A list begins while these keys are kept.
    pub(crate) fn begin(&mut self, kept: BTreeSet<Key<N>>) {
        self.kept = kept.len();
        self.newest = Age::default();
        self.missing = Some(kept);
    }

    /// The list, if one runs, contained `key`, or it need not.
    pub(crate) fn seen(&mut self, key: &Key<N>) {
        if let Some(missing) = &mut self.missing {
            missing.remove(key);
        }
    }

    /// An object of this age is told. Up to which age every change is told by that: a list is sorted by name, so its objects
    /// tell that only at its end.
    fn tells(&mut self, age: Age) -> Option<Age> {
        if self.missing.is_none() {
            return Some(age);
        }
        self.newest = self.newest.max(age);
        None
    }

    /// The list ends: the keys that it did not contain.
    pub(crate) fn finish(&mut self) -> BTreeSet<Key<N>> {
        self.missing.take().unwrap_or_default()
    }

    fn loss(&self) -> ListLoss {
        let loss = |missing: &BTreeSet<_>| ListLoss { missing: missing.len(), kept: self.kept };
        self.missing.as_ref().map(loss).unwrap_or_default()
    }
}

impl<K: Kind> Indexed<K> for Index {
    fn apply(&mut self, object: &K) -> bool {
        let changed = self.apply_reply(object);
        let age = Age::of(object.meta());
        self.tables.of::<K::Name>(K::ID).tells(age).is_some_and(|age| K::told(self, age)) | changed
    }

    fn apply_reply(&mut self, object: &K) -> bool {
        let admitted = self.admit::<K>(object.meta());
        admitted.is_some_and(|(key, meta)| K::put(self, key, meta, object))
    }

    fn told(&mut self, version: &ResourceVersion) -> bool {
        K::told(self, version.age())
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
            self.tables.of::<K::Name>(K::ID).deleted.insert(uid);
        }
        let key = (Namespace::from(namespace), K::Name::from(name));
        K::kept(self, &key).is_some_and(|kept| kept.uid == uid) && self.forget::<K>(&key)
    }

    fn relist_begin(&mut self) {
        let kept = K::keys(self).collect();
        self.tables.of::<K::Name>(K::ID).begin(kept);
    }

    fn relist_loss(&self) -> ListLoss {
        let table = K::Name::tables(&self.tables).get(&K::ID).filter(|_| K::LISTS_ARE_DOUBTED);
        table.map(Table::loss).unwrap_or_default()
    }

    fn relist_finish(&mut self) -> bool {
        let table = self.tables.of::<K::Name>(K::ID);
        let (missing, newest) = (table.finish(), table.newest);
        let changed = missing.iter().fold(false, |changed, key| self.forget::<K>(key) | changed);
        K::told(self, newest) | K::listed(self) | changed
    }
}

impl Index {
    /// The key and the version of an object that is neither older than what is kept under its name nor known to be deleted.
    fn admit<K: Kind>(&mut self, metadata: &ObjectMeta) -> Option<(Key<K::Name>, Meta)> {
        let uid = uid_of(metadata)?;
        let name = metadata.name.as_deref().unwrap_or_default();
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        let key = (Namespace::from(namespace), K::Name::from(name));
        let table = self.tables.of::<K::Name>(K::ID);
        table.seen(&key);
        if K::is_written(name) && table.deleted.contains(&uid) {
            return None;
        }
        let age = Age::of(metadata);
        let is_stale = K::kept(self, &key).is_some_and(|kept| age.is_stale_beside(kept.age));
        (!is_stale).then(|| (key, Meta { uid: (*uid).into(), age }))
    }

    /// Forgets the object under `key`, if there is one. Says whether a decision depends on the difference.
    pub(crate) fn forget<K: Kind>(&mut self, key: &Key<K::Name>) -> bool {
        if K::kept(self, key).is_none() {
            return false;
        }
        self.tables.of::<K::Name>(K::ID).seen(key);
        let changed = K::remove(self, key);
        self.drop_if_empty(&key.0);
        changed
    }

    /// The keys of a kind of which every namespace has these names.
    pub(crate) fn keys<'i, N, I>(
        &'i self,
        names: impl Fn(&'i NamespaceEntry) -> I,
    ) -> impl Iterator<Item = Key<N>>
    where
        N: Clone + 'i,
        I: Iterator<Item = &'i N>,
    {
        self.namespaces.iter().flat_map(move |(namespace, entry)| {
            names(entry).map(move |name| (namespace.clone(), name.clone()))
        })
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
