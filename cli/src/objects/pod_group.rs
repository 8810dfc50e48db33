//! PodGroups of every scheduler that has them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource as _;
use quotient_index::{
    Coscheduling, Index, Indexed, Kai, KubernetesV1Alpha2, KubernetesV1Alpha3, KubernetesV1Beta1, PodGroup,
    Volcano,
};
use serde_json::Value;

use super::ApiKind;
use super::decode::decode;

macro_rules! pod_groups {
    ($($scheduler:ident $api_version:literal;)*) => {
        /// A PodGroup, by the API that it belongs to.
        #[derive(Debug)]
        pub(crate) enum AnyPodGroup {
            $($scheduler(PodGroup<$scheduler>),)*
        }

        /// PodGroups, as the APIs of the schedulers serve them.
        pub(crate) const POD_GROUPS: &[ApiKind] =
            &[$(ApiKind::new($api_version, "PodGroup", "podgroups").optional(),)*];

        impl AnyPodGroup {
            /// Reads `value` as a PodGroup of the API that it names.
            pub(super) fn read(value: &Value) -> Result<Self, String> {
                match value.get("apiVersion").and_then(Value::as_str).unwrap_or_default() {
                    $($api_version => decode(value).map(|(group, _)| Self::$scheduler(group)),)*
                    other => Err(format!("apiVersion: no scheduler has PodGroups in {other}")),
                }
            }

            pub(super) fn metadata(&self) -> &ObjectMeta {
                match self {
                    $(Self::$scheduler(group) => group.meta(),)*
                }
            }

            pub(super) fn metadata_mut(&mut self) -> &mut ObjectMeta {
                match self {
                    $(Self::$scheduler(group) => group.meta_mut(),)*
                }
            }

            pub(super) fn apply_to(&self, index: &mut Index) -> bool {
                match self {
                    $(Self::$scheduler(group) => index.apply(group),)*
                }
            }
        }
    };
}

pod_groups! {
    Coscheduling "scheduling.x-k8s.io/v1alpha1";
    Volcano "scheduling.volcano.sh/v1beta1";
    Kai "scheduling.run.ai/v2alpha2";
    KubernetesV1Alpha2 "scheduling.k8s.io/v1alpha2";
    KubernetesV1Alpha3 "scheduling.k8s.io/v1alpha3";
    KubernetesV1Beta1 "scheduling.k8s.io/v1beta1";
}
