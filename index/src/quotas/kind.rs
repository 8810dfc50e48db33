//! How ResourceQuotas come in.

use k8s_openapi::api::core::v1::ResourceQuota;
use quotient_crds::names::QUOTA;
use quotient_engine::names::Namespace;

use super::ObservedQuota;
use crate::gone::Gone;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

/// What is remembered of quotas as a kind.
#[derive(Debug)]
pub(crate) struct QuotaKind {
    relist: Relist<Namespace>,
    gone: Gone,
}

impl Default for QuotaKind {
    fn default() -> Self {
        Self { relist: Relist::idle(), gone: Gone::default() }
    }
}

impl Keeps<ResourceQuota> for Index {
    fn apply(&mut self, object: &ResourceQuota) -> bool {
        let metadata = &object.metadata;
        if metadata.name.as_deref() != Some(QUOTA) {
            return false;
        }
        let namespace = Namespace::from(metadata.namespace.as_deref().unwrap_or_default());
        self.quotas.relist.seen(&namespace);
        let Some(uid) = uid_of(metadata) else { return false };
        if self.quotas.gone.contains(&uid) {
            return false;
        }
        let kept = self.observed_quota(&namespace);
        if kept.is_some_and(|kept| Age::of(metadata).is_stale_beside(kept.age())) {
            return false;
        }
        let observed = ObservedQuota::of(object, &uid);
        self.namespaces.entry(namespace).or_default().change_quota(|quota| quota.seen(observed))
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        if name != QUOTA {
            return false;
        }
        self.quotas.gone.insert(uid);
        let namespace = Namespace::from(namespace);
        self.observed_quota(&namespace).is_some_and(|kept| kept.uid.as_str() == uid)
            && self.remove_quota(&namespace)
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().filter(|(_, entry)| entry.quota().observed().is_some());
        self.quotas.relist.begin(kept.map(|(namespace, _)| namespace.clone()));
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.quotas.relist.finish();
        missing.iter().fold(false, |changed, namespace| self.remove_quota(namespace) | changed)
    }
}

impl Index {
    fn remove_quota(&mut self, namespace: &Namespace) -> bool {
        self.quotas.relist.seen(namespace);
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let changed = entry.change_quota(super::QuotaEntry::deleted);
        self.drop_if_empty(namespace);
        changed
    }
}
