//! How LimitRanges come in, and what is to become of the one that Quotient keeps.

use k8s_openapi::api::core::v1::LimitRange;
use quotient_crds::names::LIMIT_RANGE;
use quotient_snapshot::amounts::Bounds;
use quotient_snapshot::names::Namespace;

use super::Kind;
use crate::index::Index;
use crate::limit_ranges::{LimitRangeDue, ObservedLimitRange};
use crate::meta::{Kept, Key, Meta};
use crate::namespace::NamespaceEntry;

/// The LimitRange called `quotient`, and those of others that give containers a default.
impl Kind for LimitRange {
    fn is_written(name: &str) -> bool {
        name == LIMIT_RANGE
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = index.entry(namespace)?.limit_range(name)?;
        Some(Kept::of(&kept.uid, kept.resource_version.as_ref()))
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::limit_range_names)
    }

    fn put(index: &mut Index, (): &(), key: Key, meta: Meta, object: &Self) -> bool {
        match ObservedLimitRange::of(object, key.1.clone(), meta.uid) {
            Some(observed) => {
                let changed = index.entry_mut(&key.0).put_limit_range(observed);
                index.show_unspecified(&key.0) | changed
            }
            None => index.forget::<Self>(&(), &key),
        }
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_limit_range(name);
        index.show_unspecified(namespace);
        true
    }

    fn listed(index: &mut Index) -> bool {
        if std::mem::replace(&mut index.has_limit_ranges, true) {
            return false;
        }
        let all: Vec<Namespace> = index.namespaces.keys().cloned().collect();
        all.iter().fold(false, |changed, namespace| index.show_unspecified(namespace) | changed)
    }
}

impl Index {
    /// Shows snapshots what owners and QueueJobs of `namespace` name no request for, and what their pods request by defaults, if
    /// these are known. Says whether that is news.
    pub(crate) fn show_unspecified(&mut self, namespace: &Namespace) -> bool {
        let entry = self.namespaces.get_mut(namespace).filter(|_| self.has_limit_ranges);
        let Some(entry) = entry else { return false };
        let changed = entry.show_to_come(self.has_limit_ranges, &mut self.shapes);
        let unspecified = entry.queue_jobs.iter().filter(|(_, kept)| !kept.defaultable.is_empty());
        let unspecified: Vec<_> = unspecified.map(|(name, _)| name.clone()).collect();
        unspecified.iter().fold(changed, |changed, name| self.show_queue_job(namespace, name) | changed)
    }

    /// What is to be done with the LimitRange of `namespace`; nothing if it is as it should be.
    ///
    /// `governing` is the name of the Queue that governs the namespace. Quotient leaves out every resource that another
    /// LimitRange gives a default for. It creates nothing for a Queue that is being deleted, and makes it the owner of nothing:
    /// garbage collection may have changed or deleted the LimitRange already.
    pub fn limit_range_due(&self, namespace: &Namespace, governing: &str) -> Option<LimitRangeDue> {
        let entry = self.namespaces.get(namespace)?;
        let queue = entry.queue(governing)?;
        let open = queue.default_requests.iter().filter(|(resource, _)| !entry.others_default(resource));
        let wanted: Bounds = open.map(|(resource, amount)| (resource.clone(), amount)).collect();
        let kept = entry.limit_range(LIMIT_RANGE);
        match kept {
            None => (!wanted.is_empty() && !queue.deleting).then_some(LimitRangeDue::Create(wanted)),
            Some(kept) if !kept.ours => (!wanted.is_empty()).then_some(LimitRangeDue::Taken),
            Some(kept) if wanted.is_empty() => Some(LimitRangeDue::Delete {
                uid: kept.uid.clone(),
                resource_version: kept.resource_version.clone(),
            }),
            Some(kept) => {
                let disowned = !queue.deleting && kept.owner.as_ref() != Some(&queue.uid);
                let says_it = kept.defaults == wanted && !kept.says_more;
                let uid = kept.uid.clone();
                (disowned || !says_it).then_some(LimitRangeDue::Change { uid, defaults: wanted, disowned })
            }
        }
    }
}
