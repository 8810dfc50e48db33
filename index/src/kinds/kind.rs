//! What watches, lists and replies do with the objects of every kind, written once.
//!
//! A kind says how its objects are read and where what is kept of them stands ([`Kind`]). Which of two versions is newer, what
//! a list did not contain and what was deleted is found out here.

use std::borrow::Cow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use quotient_snapshot::names::Namespace;

use crate::decoded::{Decoded, Undecodable};
use crate::index::Index;
use crate::meta::{Age, Kept, Key, Meta, ResourceVersion, key};
use crate::namespace::NamespaceEntry;
use crate::reading::uid_of;
use crate::tables::{ListLoss, Table};

/// A kind of object: how it is read, and where what is kept of it stands.
///
/// The index keeps pods and their owners (ReplicaSets, StatefulSets, DaemonSets, Jobs and objects of configured kinds),
/// PodDisruptionBudgets, PodGroups, priority classes, nodes, namespaces, Queues, QueueJobs, ResourceQuotas, LimitRanges, and the
/// sizes in Deployments and autoscalers. Where one type stands for several kinds, `of` says which.
///
/// Of a key for which nothing is kept, `remove` changes nothing and says so.
pub trait Kind: Resource + Send + 'static {
    /// Whether a list that lacks many of the kept objects is doubted.
    const LISTS_ARE_DOUBTED: bool = false;

    /// What kubectl calls the kind: `pods`, `poddisruptionbudgets.policy`.
    fn kind_name(of: &Self::DynamicType) -> Cow<'_, str> {
        let (plural, group) = (Self::plural(of), Self::group(of));
        if group.is_empty() { plural } else { format!("{plural}.{group}").into() }
    }

    /// Whether the operator writes objects of this name. The reply to a write may come after the object is known to be deleted.
    fn is_written(_name: &str) -> bool {
        false
    }

    /// What of the object is too much to be kept, if anything is; what the object counts as then is the kind's careful reading.
    fn excess(&self) -> Option<String> {
        None
    }

    /// What is kept under `key`.
    fn kept<'i>(index: &'i Index, of: &Self::DynamicType, key: &Key) -> Option<Kept<'i>>;

    /// Every key under which something is kept.
    fn keys(index: &Index, of: &Self::DynamicType) -> impl Iterator<Item = Key>;

    /// Keeps what matters of `object`, which is no older than what is kept. Says whether a decision depends on the difference.
    fn put(index: &mut Index, of: &Self::DynamicType, key: Key, meta: Meta, object: &Self) -> bool;

    /// The same for an object that cannot be decoded. Most kinds leave what is kept as it is.
    fn put_undecodable(_index: &mut Index, _key: Key, _meta: Meta, _object: &Undecodable) -> bool {
        false
    }

    /// Forgets what is kept under `key`. Says whether a decision depends on the difference.
    fn remove(index: &mut Index, of: &Self::DynamicType, key: &Key) -> bool;

    /// The watch has delivered every change up to this age. Says whether a decision depends on that.
    fn seen_up_to(_index: &mut Index, _age: Age) -> bool {
        false
    }

    /// A full list has ended. Says whether a decision depends on that.
    fn listed(_index: &mut Index) -> bool {
        false
    }
}

/// The life of objects, as a watch or a directory of manifests tells it.
///
/// Every function says whether anything changed that a decision or a condition depends on, so that a watch event that only
/// moved a heartbeat starts no cycle.
impl Index {
    /// Takes `object` in, new or changed.
    ///
    /// Ignored are: an object without a name, one older (by resourceVersion) than what is kept under its name,
    /// and, for kinds that are also written, one whose uid was deleted before.
    pub fn apply<K: Kind<DynamicType = ()>>(&mut self, object: &K) -> bool {
        self.apply_of(&(), object)
    }

    /// The same where the type does not say which kind it is.
    pub fn apply_of<K: Kind>(&mut self, of: &K::DynamicType, object: &K) -> bool {
        let changed = self.put(of, object);
        let age = Age::of(object.meta());
        self.table::<K>(of).advance(age).is_some_and(|age| K::seen_up_to(self, age)) | changed
    }

    /// The same for an object that may be one that cannot be decoded. What is kept of it then stays as it was decoded last; a
    /// kind with a place for it keeps the object as invalid, and a PodDisruptionBudget counts as one that allows no disruption.
    pub fn apply_decoded<K: Kind>(&mut self, of: &K::DynamicType, object: &Decoded<K>) -> bool {
        match &object.0 {
            Ok(object) => self.apply_of(of, object),
            Err(undecodable) => self.put_undecodable::<K>(of, undecodable),
        }
    }

    /// The same for the reply to a write. It says nothing of what happened to other objects before.
    pub fn apply_reply<K: Kind<DynamicType = ()>>(&mut self, object: &Decoded<K>) -> bool {
        match &object.0 {
            Ok(object) => self.put(&(), object),
            Err(undecodable) => self.put_undecodable::<K>(&(), undecodable),
        }
    }

    /// The watch has delivered every change up to `version`. Objects applied outside of a list, and the end of a list, say so
    /// too.
    pub fn seen_up_to<K: Kind>(&mut self, version: &ResourceVersion) -> bool {
        K::seen_up_to(self, version.age())
    }

    /// Forgets the object of this name. A successor under the same name, with another uid, stays.
    ///
    /// `namespace` is empty for kinds that are in none.
    pub fn delete<K: Kind>(&mut self, of: &K::DynamicType, namespace: &str, name: &str, uid: &str) -> bool {
        if K::is_written(name) {
            self.table::<K>(of).deleted.insert(uid);
        }
        let key = (Namespace::from(namespace), Arc::from(name));
        if K::kept(self, of, &key).is_some_and(|kept| kept.uid != uid) {
            return false;
        }
        self.end_skip::<K>(of, &key) | self.forget::<K>(of, &key)
    }

    /// Starts a full list: objects not applied until [`relist_finish`](Self::relist_finish) are gone by then.
    ///
    /// Nothing changes yet; snapshots taken during the list show what was known before plus what came in. A
    /// list that broke off is simply started again.
    pub fn relist_begin<K: Kind>(&mut self, of: &K::DynamicType) {
        let kept = K::keys(self, of).collect();
        let skipped = self.skipped.keys(&K::kind_name(of)).collect();
        self.table::<K>(of).begin(kept, skipped);
    }

    /// What of the kept objects the running list has not contained so far. Of a kind that says nothing every list is believed.
    pub fn relist_loss<K: Kind>(&self, of: &K::DynamicType) -> ListLoss {
        let table = self.tables.get(&*K::kind_name(of)).filter(|_| K::LISTS_ARE_DOUBTED);
        table.map(|table| table.loss(|key| K::kept(self, of, key).is_some())).unwrap_or_default()
    }

    /// Ends a full list: forgets everything that was kept when it began and that it did not contain.
    ///
    /// Without a list begun before, nothing is forgotten.
    pub fn relist_finish<K: Kind>(&mut self, of: &K::DynamicType) -> bool {
        let table = self.table::<K>(of);
        let (missing, newest) = (table.finish(), table.newest);
        let changed = missing
            .iter()
            .fold(false, |changed, key| self.end_skip::<K>(of, key) | self.forget::<K>(of, key) | changed);
        K::seen_up_to(self, newest) | K::listed(self) | changed
    }

    fn put<K: Kind>(&mut self, of: &K::DynamicType, object: &K) -> bool {
        let Some((key, meta)) = self.admit::<K>(of, object.meta()) else { return false };
        let told = match object.excess() {
            Some(why) => self.skip::<K>(of, &key, why),
            None => self.end_skip::<K>(of, &key),
        };
        K::put(self, of, key, meta, object) | told
    }

    fn put_undecodable<K: Kind>(&mut self, of: &K::DynamicType, object: &Undecodable) -> bool {
        let Some((key, meta)) = self.admit::<K>(of, &object.metadata) else { return false };
        let told = self.skip::<K>(of, &key, object.error.clone());
        K::put_undecodable(self, key, meta, object) | told
    }

    /// The key and the version of an object that is neither older than what is kept under its name nor known to be deleted.
    fn admit<K: Kind>(&mut self, of: &K::DynamicType, metadata: &ObjectMeta) -> Option<(Key, Meta)> {
        let uid = uid_of(metadata)?;
        let key = key(metadata);
        let table = self.table::<K>(of);
        table.seen(&key);
        if K::is_written(&key.1) && table.deleted.contains(&uid) {
            return None;
        }
        let age = Age::of(metadata);
        let is_stale = K::kept(self, of, &key).is_some_and(|kept| age.is_stale_beside(kept.age));
        (!is_stale).then(|| (key, Meta { uid: (*uid).into(), age }))
    }

    /// Forgets the object under `key`, if there is one. Says whether a decision depends on the difference.
    pub(crate) fn forget<K: Kind>(&mut self, of: &K::DynamicType, key: &Key) -> bool {
        if K::kept(self, of, key).is_none() {
            return false;
        }
        self.table::<K>(of).seen(key);
        let changed = K::remove(self, of, key);
        self.drop_if_empty(&key.0);
        changed
    }

    /// Whether a full list of the kind runs.
    pub(crate) fn is_listing<K: Kind>(&self, of: &K::DynamicType) -> bool {
        self.tables.get(&*K::kind_name(of)).is_some_and(Table::is_listing)
    }

    /// What is remembered of the lists and the deletions of a kind.
    fn table<K: Kind>(&mut self, of: &K::DynamicType) -> &mut Table {
        let name = self.texts.get(K::kind_name(of));
        self.tables.entry(name).or_default()
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
