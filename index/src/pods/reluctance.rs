//! What makes a pod one that is evicted only when nothing else is left.

use k8s_openapi::api::core::v1::Pod;
use quotient_crds::names::{PREEMPTIBLE_ANNOTATION, PREEMPTIBLE_LAST};

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
