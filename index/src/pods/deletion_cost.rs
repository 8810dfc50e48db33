//! Which pods of a ReplicaSet go first, as they say themselves.

use k8s_openapi::api::core::v1::Pod;
use quotient_crds::names::DELETION_COST_ANNOTATION;

/// The pod's deletion cost; none and what is no 32-bit number count as 0, as for the ReplicaSet controller.
pub(super) fn deletion_cost(pod: &Pod) -> i32 {
    let annotation = pod.metadata.annotations.as_ref().and_then(|all| all.get(DELETION_COST_ANNOTATION));
    annotation.and_then(|text| text.parse().ok()).unwrap_or_default()
}
