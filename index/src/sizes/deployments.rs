//! Deployments: what they say of the size of their ReplicaSets.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;

use super::DeclaredReplicas;
use super::surge::surges_first;
use crate::index::Index;
use crate::namespace::NamespaceEntry;
use crate::table::{Kept, Key, Kind, KindId, Meta};

/// What is kept of one Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeploymentSize {
    pub(crate) meta: Meta,
    pub(crate) declared: DeclaredReplicas,
    /// Whether it removes an older pod only after a newer one is available.
    pub(crate) surges_first: bool,
}

impl Kind for Deployment {
    type Name = Arc<str>;
    const ID: KindId = KindId::Deployment;

    fn kept<'i>(index: &'i Index, (namespace, name): &Key) -> Option<Kept<'i>> {
        index.entry(namespace)?.deployment(name).map(|kept| kept.meta.kept())
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.keys(NamespaceEntry::deployment_names)
    }

    fn put(index: &mut Index, (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let spec = object.spec.as_ref();
        let replicas = u32::try_from(spec.and_then(|spec| spec.replicas).unwrap_or(1)).unwrap_or_default();
        let declared = DeclaredReplicas::of(&object.metadata, replicas);
        let surges_first = spec.is_some_and(|spec| surges_first(spec, replicas));
        index.entry_mut(&namespace).put_deployment(name, DeploymentSize { meta, declared, surges_first })
    }

    fn remove(index: &mut Index, (namespace, name): &Key) -> bool {
        index.entry_mut(namespace).remove_deployment(name)
    }
}
