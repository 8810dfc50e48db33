//! Since when a pod does not get on, and whether the kubelet says why.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
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

/// Whether the kubelet reports that a container of the pod crashes or cannot start: it waits for anything but its turn.
pub(super) fn is_failing(pod: &Pod) -> bool {
    let Some(status) = pod.status.as_ref() else { return false };
    let mut containers = status.container_statuses.iter().chain(&status.init_container_statuses).flatten();
    containers.any(|container| waiting_reason(container).is_some_and(|reason| !TURNS.contains(&reason)))
}

/// The reasons of containers that wait although nothing is wrong.
const TURNS: [&str; 2] = ["ContainerCreating", "PodInitializing"];

fn waiting_reason(container: &ContainerStatus) -> Option<&str> {
    container.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
}
