//! What is remembered of the lists and the deletions of each kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::names::PodName;
use quotient_engine::snapshot::OwnerKind;

use crate::indexed::ListLoss;
use crate::meta::Key;
use crate::resource_version::Age;
use crate::tombstones::Tombstones;

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
    pub(crate) newest: Age,
    pub(crate) deleted: Tombstones,
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
    pub(crate) fn tells(&mut self, age: Age) -> Option<Age> {
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

    pub(crate) fn loss(&self) -> ListLoss {
        let loss = |missing: &BTreeSet<_>| ListLoss { missing: missing.len(), kept: self.kept };
        self.missing.as_ref().map(loss).unwrap_or_default()
    }
}
