//! The objects, and everything that ever happened to them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::objects::{Key, Kind, object};

/// By how much a restored backup raises its revision: more than was ever written since it was made.
const RAISED: u64 = 1_000_000;

/// One change of one object.
#[derive(Debug)]
pub struct Change {
    /// The version that it made.
    pub version: u64,
    /// When.
    pub time: Duration,
    /// Of which object.
    pub key: Key,
    /// The object before.
    pub before: Option<Arc<Value>>,
    /// The object after.
    pub after: Option<Arc<Value>>,
    /// What watches show: the object after, or the last state of one that is gone, with the version of its end.
    pub shown: Arc<Value>,
    json: OnceLock<Bytes>,
}

impl Change {
    /// What watches show, as text. Written once, however many watch.
    pub(crate) fn json(&self) -> &Bytes {
        self.json.get_or_init(|| serde_json::to_vec(&*self.shown).unwrap_or_default().into())
    }
}

/// The objects, one version counter for all, and their history.
#[derive(Debug, Default)]
pub struct Store {
    objects: BTreeMap<Key, Arc<Value>>,
    version: u64,
    /// Changes up to this version have been forgotten.
    forgotten: u64,
    /// All changes of each kind.
    histories: [Vec<Arc<Change>>; Kind::COUNT],
    /// The watches that wait for a change of each kind.
    waiting: [Vec<Waker>; Kind::COUNT],
}

impl Store {
    /// The newest version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The version up to which watches cannot be resumed any more.
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Forgets all history: watches that are resumed from before now, and pages of older lists, are refused.
    pub const fn forget(&mut self) {
        self.forgotten = self.version;
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// The objects of one kind, of one namespace or of all, by namespace and name.
    pub fn list<'a>(
        &'a self,
        kind: Kind,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> {
        let first = Key::new(kind, namespace.unwrap_or_default(), "");
        self.objects.range(first..).take_while(move |(key, _)| {
            key.kind == kind && namespace.is_none_or(|namespace| &*key.namespace == namespace)
        })
    }

    /// The objects of one kind as they were at `version`.
    pub fn list_at(&self, kind: Kind, version: u64) -> BTreeMap<Key, Arc<Value>> {
        let mut objects = BTreeMap::new();
        for change in self.history(kind).iter().take_while(|change| change.version <= version) {
            match &change.after {
                Some(after) => objects.insert(change.key.clone(), Arc::clone(after)),
                None => objects.remove(&change.key),
            };
        }
        objects
    }

    /// All changes of a kind, oldest first.
    pub fn history(&self, kind: Kind) -> &[Arc<Change>] {
        &self.histories[kind.place()]
    }

    /// Makes everything what it was at `time`, as a backup does that is restored with its revision raised, the way etcd wants
    /// it: objects have their old versions again, every later write has a higher one than ever, and watches are told that
    /// all before has been forgotten.
    pub(super) fn restore(&mut self, time: Duration, now: Duration) -> Vec<Arc<Change>> {
        let mut changes = Vec::new();
        self.version += RAISED;
        for kind in Kind::all() {
            let last = self.history(kind).iter().rfind(|change| change.time <= time);
            let then = self.list_at(kind, last.map_or(0, |change| change.version));
            let gone = self.list(kind, None).filter(|(key, _)| !then.contains_key(key));
            let gone: Vec<_> = gone.map(|(key, _)| (key.clone(), None)).collect();
            let back = then.into_iter().filter(|(key, object)| self.get(key) != Some(object));
            let back: Vec<_> = back.map(|(key, object)| (key, Some(object))).collect();
            for (key, after) in gone.into_iter().chain(back) {
                changes.push(self.put_back(key, after, now));
            }
            self.wake(kind);
        }
        self.forget();
        changes
    }

    fn put_back(&mut self, key: Key, after: Option<Arc<Value>>, time: Duration) -> Arc<Change> {
        self.version += 1;
        let shown = after.as_ref().or_else(|| self.objects.get(&key)).cloned().unwrap_or_default();
        self.note(key, after, shown, time)
    }

    /// Makes `key` what `after` says, as the change that made the newest version.
    fn note(
        &mut self,
        key: Key,
        after: Option<Arc<Value>>,
        shown: Arc<Value>,
        time: Duration,
    ) -> Arc<Change> {
        let before = match &after {
            Some(object) => self.objects.insert(key.clone(), Arc::clone(object)),
            None => self.objects.remove(&key),
        };
        let (version, json) = (self.version, OnceLock::new());
        let change = Arc::new(Change { version, time, key, before, after, shown, json });
        self.histories[change.key.kind.place()].push(Arc::clone(&change));
        change
    }

    /// Wakes `waker` at the next change of `kind`.
    pub(crate) fn wait(&mut self, kind: Kind, waker: &Waker) {
        let waiting = &mut self.waiting[kind.place()];
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    /// Wakes all watches of `kind`, although nothing changed.
    pub(crate) fn wake(&mut self, kind: Kind) {
        for waker in self.waiting[kind.place()].drain(..) {
            waker.wake();
        }
    }

    /// Makes `key` what `after` says, or nothing, and gives it the next version.
    pub(super) fn commit(&mut self, key: Key, after: Option<Value>, time: Duration) -> Arc<Change> {
        self.version += 1;
        let version = Value::from(self.version.to_string());
        let kind = key.kind;
        let lasts = after.is_some();
        let mut shown = after.or_else(|| self.get(&key).map(|last| (**last).clone())).unwrap_or_default();
        object::meta_mut(&mut shown).insert("resourceVersion".to_owned(), version);
        let shown = Arc::new(shown);
        let change = self.note(key, lasts.then(|| Arc::clone(&shown)), shown, time);
        self.wake(kind);
        change
    }
}
