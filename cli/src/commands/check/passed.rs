//! What some checks tell if they find nothing.

use super::Look;
use super::finding::Check;

/// What `check` tells of a cluster in which it finds nothing; none if its id says enough.
pub(super) fn passed(check: &Check, look: &Look<'_>) -> Option<String> {
    let (facts, operator) = (look.facts, look.cluster.operator.as_ref());
    Some(match check.id {
        "kubernetes-version" => format!("Kubernetes {} (supported 1.34 to 1.36)", facts?.full_version),
        "crd-outdated" => format!("kinds match {}", env!("CARGO_PKG_VERSION")),
        "admission-policies" => "admission policies".to_owned(),
        "operator-not-ready" => format!("{} of {} replicas", operator?.ready, operator?.replicas),
        "operator-no-leader" => "leader found".to_owned(),
        "operator-rights" => format!("{} permissions", facts?.rights.as_ref()?.needed),
        "quota-latency" => {
            format!("quota controller answers in {} ms", facts?.quota_latency?.as_millis())
        }
        _ => return None,
    })
}
