//! How Deployments and autoscalers come in, and which objects with a size are kept.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use quotient_snapshot::names::Namespace;
use quotient_snapshot::{ScaleTarget, ScaleTargetKind};

use super::Kind;
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::namespace::SCALED;
use crate::reading::count;
use crate::sizes::{Autoscaler, DeclaredReplicas, DeploymentSize, surges_first};

impl Kind for Deployment {
    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        index.entry(namespace)?.deployments.get(name).map(|kept| kept.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(|entry| entry.deployments.keys().cloned())
    }

    fn put(index: &mut Index, (): &(), (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let spec = object.spec.as_ref();
        let replicas = count(spec.and_then(|spec| spec.replicas).unwrap_or(1));
        let declared = DeclaredReplicas::of(&object.metadata, replicas);
        let surges_first = spec.is_some_and(|spec| surges_first(spec, replicas));
        index.entry_mut(&namespace).put_deployment(name, DeploymentSize { meta, declared, surges_first })
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_deployment(name)
    }
}

impl Index {
    /// Whether this life of the object is kept. The answer to a write is applied only then, because deletions of other lives
    /// are not remembered.
    pub fn holds_scale_target(&self, namespace: &Namespace, scale_target: &ScaleTarget) -> bool {
        let Some(entry) = self.namespaces.get(namespace) else { return false };
        let ScaleTarget { kind, name, uid } = scale_target;
        if *kind == ScaleTargetKind::Deployment {
            return entry.deployments.get(name).is_some_and(|kept| *kept.meta.uid == *uid.as_str());
        }
        let mut owners = SCALED.iter().filter(|(_, target)| target == kind);
        owners.any(|(owner, _)| entry.owner(*owner, name).is_some_and(|(owner, _)| owner.uid == *uid))
    }
}

impl Kind for HorizontalPodAutoscaler {
    fn kept<'i>(index: &'i Index, (): &(), (namespace, name): &Key) -> Option<Kept<'i>> {
        index.entry(namespace)?.autoscalers.get(name).map(|kept| kept.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.keys(|entry| entry.autoscalers.keys().cloned())
    }

    fn put(index: &mut Index, (): &(), (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let target = &object.spec.scale_target_ref;
        let target = (target.kind.as_str().into(), target.name.as_str().into());
        index.entry_mut(&namespace).put_autoscaler(name, Autoscaler { meta, target })
    }

    fn remove(index: &mut Index, (): &(), (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_autoscaler(name)
    }
}
