//! Pods that owners create take after the owners' templates.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as Manifest;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use quotient_engine::names::OwnerUid;
use quotient_engine::snapshot::{Pod, Snapshot};
use quotient_index::{Index, IndexSettings, Indexed};

use crate::objects::Object;

/// For each owner a pod as it would create it.
#[derive(Debug)]
pub(super) struct Templates(BTreeMap<OwnerUid, Pod>);

impl Templates {
    /// The index reads the templates as it reads pods, so that both mean the same.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut index = Index::new(IndexSettings::default());
        for (owner, number) in objects.iter().zip(0_usize..) {
            if let Some(pod) = first_pod(owner, number) {
                index.apply(&pod);
            }
        }
        let snapshot = index.snapshot(quotient_engine::time::Timestamp::default());
        let pods = snapshot.namespaces.values().flat_map(|state| &state.pods);
        Self(pods.filter_map(|pod| Some((pod.owner()?.clone(), pod.clone()))).collect())
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
                pod.non_preemptible = template.non_preemptible;
                pod.do_not_disrupt = template.do_not_disrupt;
            }
        }
    }
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
