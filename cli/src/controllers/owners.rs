//! Owners: what the pods take after that they create, and how many pods each DaemonSet wants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::apps::v1::DaemonSetStatus;
use k8s_openapi::api::core::v1::Pod as Manifest;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use quotient_engine::names::OwnerUid;
use quotient_engine::snapshot::{Owner, Pod, Snapshot, Taint};
use quotient_engine::time::Timestamp;
use quotient_index::{Index, IndexSettings};

use crate::objects::Object;

/// For each owner a pod as it would create it.
#[derive(Debug)]
pub(super) struct Templates(BTreeMap<OwnerUid, Pod>);

impl Templates {
    pub(super) fn of(objects: &[Object]) -> Self {
        let first = objects.iter().zip(0_usize..).filter_map(|(owner, number)| first_pod(owner, number));
        let pods = read_pods(first).into_iter();
        Self(pods.filter_map(|pod| Some((pod.owner()?.clone(), pod))).collect())
    }

    /// Completes the pods that were created in the last step.
    pub(super) fn complete(&self, snapshot: &mut Snapshot) {
        let now = snapshot.now;
        let is_new = |pod: &Pod| pod.created == now;
        for state in snapshot.namespaces.values_mut() {
            if !state.pods.iter().any(is_new) {
                continue;
            }
            for pod in Arc::make_mut(state).pods.iter_mut().filter(|pod| is_new(pod)) {
                let Some(template) = pod.owner().and_then(|owner| self.0.get(owner)) else { continue };
                pod.metadata = Arc::clone(&template.metadata);
                pod.kept = template.kept;
                pod.do_not_disrupt = template.do_not_disrupt;
            }
        }
    }
}

/// Pods as the engine sees them. The index reads templates as it reads pods, so that both mean the same.
pub(crate) fn read_pods(pods: impl IntoIterator<Item = Manifest>) -> Vec<Pod> {
    let mut index = Index::new(IndexSettings::default());
    for pod in pods {
        index.apply(&pod);
    }
    let snapshot = index.snapshot(Timestamp::default());
    snapshot.namespaces.values().flat_map(|state| &state.pods).cloned().collect()
}

/// A pod as `owner` would create it; none for what creates no pods itself.
fn first_pod(owner: &Object, number: usize) -> Option<Manifest> {
    if matches!(owner, Object::Deployment(_)) {
        return None;
    }
    let template = owner.template()?;
    let written = template.metadata.as_ref();
    let metadata = owner.metadata();
    let reference = OwnerReference {
        api_version: owner.kind().api().api_version.to_owned(),
        kind: owner.kind().name().to_owned(),
        name: metadata.name.clone().unwrap_or_default(),
        uid: metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        ..OwnerReference::default()
    };
    Some(Manifest {
        metadata: ObjectMeta {
            name: Some(number.to_string()),
            namespace: metadata.namespace.clone(),
            labels: written.and_then(|written| written.labels.clone()),
            annotations: written.and_then(|written| written.annotations.clone()),
            owner_references: Some(vec![reference]),
            ..ObjectMeta::default()
        },
        spec: template.spec.clone(),
        status: None,
    })
}

/// The taints that every pod of a DaemonSet tolerates begin with this: nodes that are not Ready, or not schedulable.
const TOLERATED: &str = "node.kubernetes.io/";

/// The DaemonSets of which the manifests do not say how many pods they want.
#[derive(Debug)]
pub(super) struct DaemonSets(BTreeSet<OwnerUid>);

impl DaemonSets {
    /// Has each of them want a pod on every node until [`count`](Self::count) knows which nodes their templates admit.
    pub(super) fn of(objects: &mut [Object]) -> Self {
        let nodes = objects.iter().filter(|object| matches!(object, Object::Node(_))).count();
        let nodes = i32::try_from(nodes).unwrap_or(i32::MAX);
        let mut uncounted = BTreeSet::new();
        for object in objects {
            let Object::DaemonSet(set) = object else { continue };
            if set.status.is_none() {
                Arc::make_mut(set).status =
                    Some(DaemonSetStatus { desired_number_scheduled: nodes, ..DaemonSetStatus::default() });
                uncounted.extend(set.metadata.uid.as_deref().map(OwnerUid::new));
            }
        }
        Self(uncounted)
    }

    /// Counts the nodes that each of them selects.
    pub(super) fn count(&self, snapshot: &mut Snapshot) {
        let nodes = &snapshot.nodes;
        let wanted = |owner: &Owner| {
            let selected = nodes.iter().filter(|(name, node)| {
                let taints = node.taints.iter().filter(|taint| !taint.key.starts_with(TOLERATED));
                let taints: Vec<Taint> = taints.cloned().collect();
                owner.shape.placement.allows(name.as_str(), &node.labels, &taints)
            });
            u32::try_from(selected.count()).unwrap_or(u32::MAX)
        };
        for state in snapshot.namespaces.values_mut() {
            if state.owners.iter().any(|owner| self.0.contains(&owner.uid)) {
                let owners = &mut Arc::make_mut(state).owners;
                owners.iter_mut().filter(|owner| self.0.contains(&owner.uid)).for_each(|owner| {
                    owner.wanted = wanted(owner);
                });
            }
        }
    }
}
