//! Deployments: what they say of the size of their ReplicaSets.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use quotient_engine::names::Namespace;

use super::Said;
use super::surge::surges_first;
use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

/// What is remembered of Deployments as a kind; the sizes stand in their namespaces.
#[derive(Debug)]
pub(crate) struct DeploymentKind(Relist<Key>);

type Key = (Namespace, Arc<str>);

impl Default for DeploymentKind {
    fn default() -> Self {
        Self(Relist::idle())
    }
}

/// What is kept of one Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeploymentSize {
    pub(crate) uid: Arc<str>,
    pub(crate) age: Age,
    pub(crate) said: Said,
    /// Whether it removes an older pod only after a newer one is available.
    pub(crate) surges_first: bool,
}

impl Keeps<Deployment> for Index {
    fn apply(&mut self, object: &Deployment) -> bool {
        let metadata = &object.metadata;
        let Some(uid) = uid_of(metadata) else { return false };
        let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
        let key = (Namespace::from(metadata.namespace.as_deref().unwrap_or_default()), name);
        self.deployments.0.seen(&key);
        let age = Age::of(metadata);
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.deployment(&key.1));
        if kept.is_some_and(|kept| age.is_stale_beside(kept.age)) {
            return false;
        }
        let spec = object.spec.as_ref();
        let replicas = u32::try_from(spec.and_then(|spec| spec.replicas).unwrap_or(1)).unwrap_or_default();
        let said = Said::of(metadata, replicas);
        let surges_first = spec.is_some_and(|spec| surges_first(spec, replicas));
        let size = DeploymentSize { uid: (*uid).into(), age, said, surges_first };
        self.namespaces.entry(key.0).or_default().put_deployment(key.1, size)
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.deployments.0.seen(&object.key());
        false
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = (Namespace::from(namespace), name.into());
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.deployment(name));
        kept.is_some_and(|kept| *kept.uid == *uid) && self.remove_deployment(&key)
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            entry.deployment_names().map(|name| (namespace.clone(), name.clone()))
        });
        self.deployments.0.begin(kept);
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.deployments.0.finish();
        missing.iter().fold(false, |changed, key| self.remove_deployment(key) | changed)
    }
}

impl Index {
    fn remove_deployment(&mut self, key: &Key) -> bool {
        self.deployments.0.seen(key);
        let Some(entry) = self.namespaces.get_mut(&key.0) else { return false };
        let changed = entry.remove_deployment(&key.1);
        self.drop_if_empty(&key.0);
        changed
    }
}
