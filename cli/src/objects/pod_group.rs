//! PodGroups of every scheduler that has them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource as _;
use quotient_index::{Coscheduling, Index, Kai, Keeps, KubernetesAlpha, KubernetesBeta, PodGroup, Volcano};
use serde_json::Value;

/// A PodGroup, by the API that it belongs to.
#[derive(Debug)]
pub(crate) enum AnyPodGroup {
    Coscheduling(PodGroup<Coscheduling>),
    Volcano(PodGroup<Volcano>),
    Kai(PodGroup<Kai>),
    KubernetesAlpha(PodGroup<KubernetesAlpha>),
    KubernetesBeta(PodGroup<KubernetesBeta>),
}

/// The groups and versions that serve PodGroups.
pub(super) const API_VERSIONS: [&str; 5] = [
    "scheduling.x-k8s.io/v1alpha1",
    "scheduling.volcano.sh/v1beta1",
    "scheduling.run.ai/v2alpha2",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1beta1",
];

impl AnyPodGroup {
    /// Reads `value` as a PodGroup of this API.
    pub(super) fn read(api_version: &str, value: Value) -> Result<Self, String> {
        let text = |error: serde_json::Error| error.to_string();
        match API_VERSIONS.iter().position(|known| *known == api_version) {
            Some(0) => serde_json::from_value(value).map(Self::Coscheduling).map_err(text),
            Some(1) => serde_json::from_value(value).map(Self::Volcano).map_err(text),
            Some(2) => serde_json::from_value(value).map(Self::Kai).map_err(text),
            Some(3) => serde_json::from_value(value).map(Self::KubernetesAlpha).map_err(text),
            _ => serde_json::from_value(value).map(Self::KubernetesBeta).map_err(text),
        }
    }

    pub(super) fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Coscheduling(group) => group.meta(),
            Self::Volcano(group) => group.meta(),
            Self::Kai(group) => group.meta(),
            Self::KubernetesAlpha(group) => group.meta(),
            Self::KubernetesBeta(group) => group.meta(),
        }
    }

    pub(super) fn metadata_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Coscheduling(group) => group.meta_mut(),
            Self::Volcano(group) => group.meta_mut(),
            Self::Kai(group) => group.meta_mut(),
            Self::KubernetesAlpha(group) => group.meta_mut(),
            Self::KubernetesBeta(group) => group.meta_mut(),
        }
    }

    pub(super) fn apply_to(&self, index: &mut Index) -> bool {
        match self {
            Self::Coscheduling(group) => index.apply(group),
            Self::Volcano(group) => index.apply(group),
            Self::Kai(group) => index.apply(group),
            Self::KubernetesAlpha(group) => index.apply(group),
            Self::KubernetesBeta(group) => index.apply(group),
        }
    }
}
