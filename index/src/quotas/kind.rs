//! How ResourceQuotas come in.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_crds::names::QUOTA;
use quotient_engine::names::Namespace;

use super::{ForeignQuota, ObservedQuota};
use crate::decoded::Undecodable;
use crate::gone::Gone;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

/// What is remembered of quotas as a kind.
#[derive(Debug)]
pub(crate) struct QuotaKind {
    relist: Relist<Key>,
    /// The quotas that were newer than every pod when they were seen, by age.
    pub(super) ahead: BTreeSet<(Age, Namespace)>,
    /// Of ours alone: nobody writes the others here.
    gone: Gone,
}

type Key = (Namespace, Arc<str>);

impl Default for QuotaKind {
    fn default() -> Self {
        Self { relist: Relist::idle(), ahead: BTreeSet::new(), gone: Gone::default() }
    }
}

/// All ResourceQuotas: the one called `quotient`, and those of others for what they bound.
impl Keeps<ResourceQuota> for Index {
    fn apply(&mut self, object: &ResourceQuota) -> bool {
        let metadata = &object.metadata;
        let Some(uid) = uid_of(metadata) else { return false };
        let name = metadata.name.as_deref().unwrap_or_default();
        let key = (Namespace::from(metadata.namespace.as_deref().unwrap_or_default()), name.into());
        self.quotas.relist.seen(&key);
        if name != QUOTA {
            return self.apply_foreign_quota(object, &uid, key);
        }
        let (namespace, _) = key;
        if self.quotas.gone.contains(&uid) {
            return false;
        }
        let kept = self.observed_quota(&namespace);
        if kept.is_some_and(|kept| Age::of(metadata).is_stale_beside(kept.age())) {
            return false;
        }
        let observed = ObservedQuota::of(object, &uid);
        self.observe_quota(&namespace, Some(observed))
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.quotas.relist.seen(&object.key());
        false
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = (Namespace::from(namespace), name.into());
        if name != QUOTA {
            return self.remove_foreign_quota(&key, Some(uid));
        }
        self.quotas.gone.insert(uid);
        self.observed_quota(&key.0).is_some_and(|kept| kept.uid.as_str() == uid) && self.remove_quota(&key)
    }

    fn relist_begin(&mut self) {
        let ours: Arc<str> = QUOTA.into();
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            let ours = entry.observed_quota().map(|_| &ours);
            let names = ours.into_iter().chain(entry.foreign_quota_names());
            iter::repeat(namespace.clone()).zip(names.cloned())
        });
        self.quotas.relist.begin(kept);
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.quotas.relist.finish();
        missing.iter().fold(false, |changed, key| {
            let ours = &*key.1 == QUOTA;
            changed | if ours { self.remove_quota(key) } else { self.remove_foreign_quota(key, None) }
        })
    }
}

impl Index {
    fn apply_foreign_quota(&mut self, object: &ResourceQuota, uid: &str, key: Key) -> bool {
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.foreign_quota(&key.1));
        if kept.is_some_and(|kept| Age::of(&object.metadata).is_stale_beside(kept.age)) {
            return false;
        }
        match ForeignQuota::of(object, key.1.clone(), uid) {
            Some(quota) => self.namespaces.entry(key.0).or_default().put_foreign_quota(quota),
            None => kept.is_some() && self.remove_foreign_quota(&key, None),
        }
    }

    fn remove_foreign_quota(&mut self, key: &Key, uid: Option<&str>) -> bool {
        let Some(entry) = self.namespaces.get_mut(&key.0) else { return false };
        let changed = entry.remove_foreign_quota(&key.1, uid);
        if entry.foreign_quota(&key.1).is_none() {
            self.quotas.relist.seen(key);
        }
        self.drop_if_empty(&key.0);
        changed
    }

    fn remove_quota(&mut self, key: &Key) -> bool {
        self.quotas.relist.seen(key);
        self.observe_quota(&key.0, None)
    }

    fn observe_quota(&mut self, namespace: &Namespace, observed: Option<ObservedQuota>) -> bool {
        let moved = self.namespaces.entry(namespace.clone()).or_default().observe_quota(observed);
        let changed = self.show_quota(namespace);
        self.drop_if_empty(namespace);
        moved | changed
    }
}
