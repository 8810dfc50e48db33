//! What makes a pod one that is never evicted.

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::snapshot::Immunity;

/// The annotation that the kubelet puts on the mirror of a static pod.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Why `pod` must never be a victim, if so.
pub(super) fn immunity(pod: &Pod) -> Option<Immunity> {
    let metadata = &pod.metadata;
    let mirror = metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(MIRROR));
    let mut owners = metadata.owner_references.iter().flatten();
    let daemon = owners.any(|owner| {
        owner.controller == Some(true) && owner.kind == "DaemonSet" && owner.api_version.starts_with("apps/")
    });
    let class = pod.spec.as_ref().and_then(|spec| spec.priority_class_name.as_deref());
    if mirror {
        Some(Immunity::Mirror)
    } else if daemon {
        Some(Immunity::DaemonSet)
    } else if matches!(class, Some("system-cluster-critical" | "system-node-critical")) {
        Some(Immunity::SystemCritical)
    } else {
        None
    }
}
