//! How LimitRanges come in.

use std::sync::Arc;

use k8s_openapi::api::core::v1::LimitRange;
use quotient_crds::names::LIMIT_RANGE;
use quotient_engine::names::Namespace;

use super::ObservedLimitRange;
use crate::index::Index;
use crate::namespace::NamespaceEntry;
use crate::table::{Kept, Key, Kind, KindId, Meta};

/// What is remembered of LimitRanges as a kind.
#[derive(Debug, Default)]
pub(crate) struct LimitRangeKind {
    /// Whether all were listed once. Before that no namespace is known to have none.
    listed: bool,
}

/// The LimitRange called `quotient`, and those of others that give containers a default.
impl Kind for LimitRange {
    type Name = Arc<str>;
    const ID: KindId = KindId::LimitRange;

    fn is_written(name: &str) -> bool {
        name == LIMIT_RANGE
    }

    fn kept<'i>(index: &'i Index, (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = index.entry(namespace)?.limit_range(name)?;
        Some(Kept { uid: &kept.uid, age: kept.age() })
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::limit_range_names)
    }

    fn put(index: &mut Index, key: Key, meta: Meta, object: &Self) -> bool {
        match ObservedLimitRange::of(object, key.1.clone(), meta.uid) {
            Some(observed) => {
                let changed = index.entry_mut(&key.0).put_limit_range(observed);
                index.show_unspecified(&key.0) | changed
            }
            None => index.forget::<Self>(&key),
        }
    }

    fn remove(index: &mut Index, (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_limit_range(name);
        index.show_unspecified(namespace);
        true
    }

    fn listed(index: &mut Index) -> bool {
        if std::mem::replace(&mut index.limit_ranges.listed, true) {
            return false;
        }
        index.namespaces.values_mut().fold(false, |changed, entry| entry.show_unspecified() | changed)
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
}
