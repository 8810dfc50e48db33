//! How ResourceQuotas come in.

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_crds::names::QUOTA;
use quotient_snapshot::names::Namespace;

use super::Kind;
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::namespace::NamespaceEntry;
use crate::quotas::{ForeignQuota, ObservedQuota};

/// All ResourceQuotas: the one called `quotient`, and those of others for what they bound.
impl Kind for ResourceQuota {
    fn is_written(name: &str) -> bool {
        name == QUOTA
    }

    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        if Self::is_written(name) {
            let kept = index.observed_quota(namespace)?;
            return Some(Kept { uid: kept.uid.as_str(), age: kept.age() });
        }
        index.entry(namespace)?.foreign_quota(name).map(|kept| kept.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        let all = index.namespaces.iter();
        let observed = all.filter(|(_, entry)| entry.observed_quota().is_some());
        let ours = observed.map(|(namespace, _)| (namespace.clone(), QUOTA.into()));
        ours.chain(index.keys(NamespaceEntry::foreign_quota_names))
    }

    fn put(index: &mut Index, (): &(), key: Key, meta: Meta, object: &Self) -> bool {
        if Self::is_written(&key.1) {
            return index.observe_quota(&key.0, Some(ObservedQuota::of(object, &meta.uid)));
        }
        match ForeignQuota::of(object, key.1.clone(), meta) {
            Some(quota) => index.entry_mut(&key.0).put_foreign_quota(quota),
            None => index.forget::<Self>(&(), &key),
        }
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        if Self::is_written(name) {
            return index.observe_quota(namespace, None);
        }
        index.entry_mut(namespace).remove_foreign_quota(name)
    }
}

impl Index {
    /// How often the quota controller was seen at work: each time a quota of ours that was known enforced something else.
    pub fn quotas_enforced(&self) -> u64 {
        self.quotas.enforced
    }

    fn observe_quota(&mut self, namespace: &Namespace, observed: Option<ObservedQuota>) -> bool {
        let known = self.observed_quota(namespace).zip(observed.as_ref());
        if known.is_some_and(|(before, now)| before.uid == now.uid && before.in_effect() != now.in_effect()) {
            self.quotas.enforced = self.quotas.enforced.saturating_add(1);
        }
        let moved = self.entry_mut(namespace).observe_quota(observed);
        let changed = self.show_quota(namespace);
        self.drop_if_empty(namespace);
        moved | changed
    }
}
