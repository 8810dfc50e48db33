//! How pods come in.

use k8s_openapi::api::core::v1::Pod as Object;
use quotient_engine::names::{Namespace, NodeName, OwnerUid, PodName, PodUid};
use quotient_engine::plan::PodId;
use quotient_engine::snapshot::{Pod, Shape, Ties};
use quotient_engine::time::Timestamp;

use super::evictions::UnseenEvictions;
use super::immunity::immunity;
use super::life::{phase, started};
use super::owner::controller;
use super::reluctance::is_reluctant;
use super::requests::effective_requests;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::{Reading, uid_of};
use crate::relist::Relist;
use crate::resource_version::Age;
use crate::time::timestamp;

/// What is remembered of pods as a kind; the pods themselves stand in their namespaces.
#[derive(Debug)]
pub(crate) struct PodKind {
    relist: Relist<(Namespace, PodName)>,
    evictions: UnseenEvictions,
}

impl Default for PodKind {
    fn default() -> Self {
        Self { relist: Relist::idle(), evictions: UnseenEvictions::default() }
    }
}

impl PodKind {
    pub(crate) fn evicted(&mut self, pod: &PodId, deadline: Timestamp) {
        self.evictions.insert(pod, deadline);
    }

    pub(crate) fn forget_eviction(&mut self, uid: &PodUid) -> bool {
        self.evictions.remove(uid)
    }

    pub(crate) fn unseen_evictions(&self) -> impl Iterator<Item = &PodId> {
        self.evictions.iter()
    }
}

impl Keeps<Object> for Index {
    fn apply(&mut self, object: &Object) -> bool {
        let Some(uid) = uid_of(&object.metadata) else { return false };
        let name = PodName::from(object.metadata.name.as_deref().unwrap_or_default());
        let namespace = Namespace::from(object.metadata.namespace.as_deref().unwrap_or_default());
        let age = Age::of(&object.metadata);
        self.pods.relist.seen(&(namespace.clone(), name.clone()));
        let kept = self.namespaces.get(&namespace).and_then(|entry| entry.pod(&name));
        if let Some((kept, kept_age)) = kept {
            if age.is_stale_beside(kept_age) {
                return false;
            }
            if kept.uid.as_str() != &*uid {
                // Its deletion was missed; whatever was done to it does not concern its successor.
                self.pods.evictions.remove(&kept.uid);
            }
        }
        let pod = self.read_pod(object, name, PodUid::new(&*uid));
        self.namespaces.entry(namespace).or_default().put_pod(pod, age)
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        self.remove_pod(&namespace.into(), &name.into(), Some(&uid.into()))
    }

    fn relist_begin(&mut self) {
        let kept = self
            .namespaces
            .iter()
            .flat_map(|(namespace, entry)| entry.pod_names().map(|name| (namespace.clone(), name.clone())));
        self.pods.relist.begin(kept);
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.pods.relist.finish();
        missing
            .iter()
            .fold(false, |changed, (namespace, name)| self.remove_pod(namespace, name, None) | changed)
    }
}

impl Index {
    fn read_pod(&mut self, object: &Object, name: PodName, uid: PodUid) -> Pod {
        let metadata = &object.metadata;
        let spec = object.spec.as_ref();
        let node = spec.and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
        let deletion = metadata.deletion_timestamp.as_ref().map(timestamp);
        Pod {
            shape: self.shapes.get(Shape {
                requests: effective_requests(object, &mut Reading::default()),
                ..Shape::default()
            }),
            node: node.map(|node| NodeName::new(self.node_names.get(node))),
            phase: phase(object),
            priority: spec.and_then(|spec| spec.priority).unwrap_or_default(),
            created: metadata.creation_timestamp.as_ref().map(timestamp).unwrap_or_default(),
            started: started(object),
            deletion: self.pods.evictions.merge(&uid, deletion),
            immunity: immunity(object),
            reluctant: is_reluctant(object),
            ties: self
                .ties
                .get(Ties { owner: controller(object).map(|uid| OwnerUid::from(&*uid)), ..Ties::default() }),
            uid,
            name,
            ..Pod::default()
        }
    }

    fn remove_pod(&mut self, namespace: &Namespace, name: &PodName, uid: Option<&PodUid>) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let Some(removed) = entry.remove_pod(name, uid) else { return false };
        self.pods.evictions.remove(&removed.uid);
        self.pods.relist.seen(&(namespace.clone(), name.clone()));
        self.drop_if_empty(namespace);
        true
    }
}
