//! What makes a pod one that is never evicted.

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::snapshot::NonPreemptible;

/// The annotation that the kubelet puts on the mirror of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Why `pod` must never be a victim, if so.
pub(super) fn non_preemptible(pod: &Pod) -> Option<NonPreemptible> {
    let metadata = &pod.metadata;
    let mirror = metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR));
    mirror.then_some(NonPreemptible::Mirror)
}
