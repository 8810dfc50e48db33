//! Autoscalers (HPA): whose size they keep.

use std::sync::Arc;

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use quotient_engine::names::Namespace;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

/// What is remembered of autoscalers as a kind; whom they scale stands in their namespaces.
#[derive(Debug)]
pub(crate) struct AutoscalerKind(Relist<Key>);

type Key = (Namespace, Arc<str>);

impl Default for AutoscalerKind {
    fn default() -> Self {
        Self(Relist::idle())
    }
}

/// What is kept of one autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Autoscaler {
    pub(crate) uid: Arc<str>,
    pub(crate) age: Age,
    /// The kind and the name of what it scales.
    pub(crate) target: (Arc<str>, Arc<str>),
}

impl Keeps<HorizontalPodAutoscaler> for Index {
    fn apply(&mut self, object: &HorizontalPodAutoscaler) -> bool {
        let metadata = &object.metadata;
        let Some(uid) = uid_of(metadata) else { return false };
        let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
        let key = (Namespace::from(metadata.namespace.as_deref().unwrap_or_default()), name);
        self.autoscalers.0.seen(&key);
        let age = Age::of(metadata);
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.autoscaler(&key.1));
        if kept.is_some_and(|kept| age.is_stale_beside(kept.age)) {
            return false;
        }
        let target = &object.spec.scale_target_ref;
        let target = (target.kind.as_str().into(), target.name.as_str().into());
        let autoscaler = Autoscaler { uid: (*uid).into(), age, target };
        self.namespaces.entry(key.0).or_default().put_autoscaler(key.1, autoscaler)
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.autoscalers.0.seen(&object.key());
        false
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = (Namespace::from(namespace), name.into());
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.autoscaler(name));
        kept.is_some_and(|kept| *kept.uid == *uid) && self.remove_autoscaler(&key)
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            entry.autoscaler_names().map(|name| (namespace.clone(), name.clone()))
        });
        self.autoscalers.0.begin(kept);
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.autoscalers.0.finish();
        missing.iter().fold(false, |changed, key| self.remove_autoscaler(key) | changed)
    }
}

impl Index {
    fn remove_autoscaler(&mut self, key: &Key) -> bool {
        self.autoscalers.0.seen(key);
        let Some(entry) = self.namespaces.get_mut(&key.0) else { return false };
        let changed = entry.remove_autoscaler(&key.1);
        self.drop_if_empty(&key.0);
        changed
    }
}
