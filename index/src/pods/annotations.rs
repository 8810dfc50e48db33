//! What the annotations of a pod say of its eviction and its deletion.

use k8s_openapi::api::core::v1::Pod;
use quotient_crds::names::{DELETION_COST_ANNOTATION, PREEMPTIBLE_ANNOTATION, PREEMPTIBLE_LAST};
use quotient_engine::snapshot::NonPreemptible;

/// The annotation that the kubelet puts on the mirror of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Why `pod` must never be a victim, if so.
pub(super) fn non_preemptible(pod: &Pod) -> Option<NonPreemptible> {
    let metadata = &pod.metadata;
    let mirror = metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR));
    mirror.then_some(NonPreemptible::Mirror)
}

/// The annotations that ask for it, each with the value that does: ours, and those by which the cluster
/// autoscaler and Karpenter are told not to move a pod.
const REQUESTS: [(&str, &str); 3] = [
    (PREEMPTIBLE_ANNOTATION, PREEMPTIBLE_LAST),
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
    ("karpenter.sh/do-not-disrupt", "true"),
];

/// Whether `pod` asks to be left alone while others suffice.
pub(super) fn is_reluctant(pod: &Pod) -> bool {
    let annotations = pod.metadata.annotations.as_ref();
    let has = |key: &str, value: &str| {
        annotations.and_then(|annotations| annotations.get(key)).is_some_and(|found| found == value)
    };
    REQUESTS.into_iter().any(|(key, value)| has(key, value))
}

/// The pod's deletion cost; none and what is no 32-bit number count as 0, as for the ReplicaSet controller.
pub(super) fn deletion_cost(pod: &Pod) -> i32 {
    let annotation = pod.metadata.annotations.as_ref().and_then(|all| all.get(DELETION_COST_ANNOTATION));
    annotation.and_then(|text| text.parse().ok()).unwrap_or_default()
}
