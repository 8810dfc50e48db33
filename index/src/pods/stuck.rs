//! Since when a pod does not get on.

use k8s_openapi::api::core::v1::{Pod, PodCondition};
use quotient_engine::snapshot::Phase;
use quotient_engine::time::Timestamp;

use super::life::phase;
use crate::time::timestamp;

/// Since when no node takes the pod or, once it has one, it is not Ready. None for a pod that is Ready or has
/// finished, and where nobody has said anything yet.
pub(super) fn stuck(pod: &Pod) -> Option<Timestamp> {
    if phase(pod) == Phase::Finished {
        return None;
    }
    let bound =
        pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty());
    let tells = |condition: &&PodCondition| {
        condition.status == "False"
            && if bound {
                condition.type_ == "Ready"
            } else {
                condition.type_ == "PodScheduled" && condition.reason.as_deref() == Some("Unschedulable")
            }
    };
    let condition = pod.status.as_ref()?.conditions.iter().flatten().find(tells)?;
    condition.last_transition_time.as_ref().map(timestamp)
}
