//! PodGroups of every scheduler that has them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource as _;
use quotient_index::{
    Coscheduling, Index, Kai, Keeps, KubernetesV1Alpha2, KubernetesV1Alpha3, KubernetesV1Beta1, PodGroup,
    Volcano,
};
use serde_json::Value;

/// A PodGroup, by the API that it belongs to.
#[derive(Debug)]
pub(crate) enum AnyPodGroup {
    Coscheduling(PodGroup<Coscheduling>),
    Volcano(PodGroup<Volcano>),
    Kai(PodGroup<Kai>),
    KubernetesV1Alpha2(PodGroup<KubernetesV1Alpha2>),
    KubernetesV1Alpha3(PodGroup<KubernetesV1Alpha3>),
    KubernetesV1Beta1(PodGroup<KubernetesV1Beta1>),
}

/// The groups and versions that serve PodGroups.
pub(super) const API_VERSIONS: [&str; 6] = [
    "scheduling.x-k8s.io/v1alpha1",
    "scheduling.volcano.sh/v1beta1",
    "scheduling.run.ai/v2alpha2",
    "scheduling.k8s.io/v1alpha2",
    "scheduling.k8s.io/v1alpha3",
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
            Some(3) => serde_json::from_value(value).map(Self::KubernetesV1Alpha2).map_err(text),
            Some(4) => serde_json::from_value(value).map(Self::KubernetesV1Alpha3).map_err(text),
            _ => serde_json::from_value(value).map(Self::KubernetesV1Beta1).map_err(text),
        }
    }

    pub(super) fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Coscheduling(group) => group.meta(),
            Self::Volcano(group) => group.meta(),
            Self::Kai(group) => group.meta(),
            Self::KubernetesV1Alpha2(group) => group.meta(),
            Self::KubernetesV1Alpha3(group) => group.meta(),
            Self::KubernetesV1Beta1(group) => group.meta(),
        }
    }

    pub(super) fn metadata_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Coscheduling(group) => group.meta_mut(),
            Self::Volcano(group) => group.meta_mut(),
            Self::Kai(group) => group.meta_mut(),
            Self::KubernetesV1Alpha2(group) => group.meta_mut(),
            Self::KubernetesV1Alpha3(group) => group.meta_mut(),
            Self::KubernetesV1Beta1(group) => group.meta_mut(),
        }
    }

    pub(super) fn apply_to(&self, index: &mut Index) -> bool {
        match self {
            Self::Coscheduling(group) => index.apply(group),
            Self::Volcano(group) => index.apply(group),
            Self::Kai(group) => index.apply(group),
            Self::KubernetesV1Alpha2(group) => index.apply(group),
            Self::KubernetesV1Alpha3(group) => index.apply(group),
            Self::KubernetesV1Beta1(group) => index.apply(group),
        }
    }
}
