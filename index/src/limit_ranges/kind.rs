//! How LimitRanges come in.

use std::iter;
use std::sync::Arc;

use k8s_openapi::api::core::v1::LimitRange;
use quotient_engine::names::Namespace;

use super::ObservedLimitRange;
use crate::decoded::Undecodable;
use crate::gone::Gone;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::namespace::NamespaceEntry;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

/// What is remembered of LimitRanges as a kind.
#[derive(Debug)]
pub(crate) struct LimitRangeKind {
    relist: Relist<Key>,
    gone: Gone,
    /// Whether all were listed once. Before that no namespace is known to have none.
    listed: bool,
}

type Key = (Namespace, Arc<str>);

impl Default for LimitRangeKind {
    fn default() -> Self {
        Self { relist: Relist::idle(), gone: Gone::default(), listed: false }
    }
}

/// The LimitRange called `quotient`, and those of others that give containers a default.
impl Keeps<LimitRange> for Index {
    fn apply(&mut self, object: &LimitRange) -> bool {
        let metadata = &object.metadata;
        let Some(uid) = uid_of(metadata) else { return false };
        let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
        let key = (Namespace::from(metadata.namespace.as_deref().unwrap_or_default()), name);
        self.limit_ranges.relist.seen(&key);
        if self.limit_ranges.gone.contains(&uid) {
            return false;
        }
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.limit_range(&key.1));
        if kept.is_some_and(|kept| Age::of(metadata).is_stale_beside(kept.age())) {
            return false;
        }
        match ObservedLimitRange::of(object, key.1.clone(), &uid) {
            Some(observed) => {
                let changed = self.namespaces.entry(key.0.clone()).or_default().put_limit_range(observed);
                self.show_unspecified(&key.0) | changed
            }
            None => kept.is_some() && self.remove_limit_range(&key, None),
        }
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.limit_ranges.relist.seen(&object.key());
        false
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        self.limit_ranges.gone.insert(uid);
        self.remove_limit_range(&(Namespace::from(namespace), name.into()), Some(uid))
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            iter::repeat(namespace.clone()).zip(entry.limit_range_names().cloned())
        });
        self.limit_ranges.relist.begin(kept);
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.limit_ranges.relist.finish();
        let changed = missing.iter().fold(false, |changed, key| self.remove_limit_range(key, None) | changed);
        if std::mem::replace(&mut self.limit_ranges.listed, true) {
            return changed;
        }
        self.namespaces.values_mut().fold(changed, |changed, entry| entry.show_unspecified() | changed)
    }
}

impl LimitRangeKind {
    /// Whether it is known which LimitRanges there are.
    pub(crate) const fn is_listed(&self) -> bool {
        self.listed
    }
}

impl Index {
    /// Shows snapshots what the owners of `namespace` name no request for, if it is known what has a default. Says
    /// whether that is news.
    pub(crate) fn show_unspecified(&mut self, namespace: &Namespace) -> bool {
        let entry = self.namespaces.get_mut(namespace).filter(|_| self.limit_ranges.listed);
        entry.is_some_and(NamespaceEntry::show_unspecified)
    }

    fn remove_limit_range(&mut self, key: &Key, uid: Option<&str>) -> bool {
        let Some(entry) = self.namespaces.get_mut(&key.0) else { return false };
        let changed = entry.remove_limit_range(&key.1, uid);
        if entry.limit_range(&key.1).is_none() {
            self.limit_ranges.relist.seen(key);
        }
        let changed = self.show_unspecified(&key.0) | changed;
        self.drop_if_empty(&key.0);
        changed
    }
}
