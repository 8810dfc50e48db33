//! Since when a pod does not get on, and whether the kubelet says why.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
use quotient_engine::snapshot::Phase;
use quotient_engine::time::Timestamp;

use super::life::phase;
use crate::time::timestamp;

/// Since when no node takes the pod or, once it has one, it is not Ready. None for a pod that is Ready or has
/// finished, and for one without a node of which no scheduler has said anything.
///
/// A pod whose kubelet has said nothing yet is not Ready since it was bound. A pod that was created with a `nodeName` was
/// never bound: it is not Ready since it was created.
pub(super) fn stuck(pod: &Pod) -> Option<Timestamp> {
    if phase(pod) == Phase::Finished {
        return None;
    }
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
    if node.is_none() {
        let scheduled = condition(pod, "PodScheduled")?;
        let is_unschedulable =
            scheduled.status == "False" && scheduled.reason.as_deref() == Some("Unschedulable");
        return scheduled.last_transition_time.as_ref().filter(|_| is_unschedulable).map(timestamp);
    }
    match condition(pod, "Ready") {
        Some(ready) => ready.last_transition_time.as_ref().filter(|_| ready.status == "False").map(timestamp),
        None if phase(pod) == Phase::Pending => {
            let bound = condition(pod, "PodScheduled").and_then(|bound| bound.last_transition_time.as_ref());
            bound.or(pod.metadata.creation_timestamp.as_ref()).map(timestamp)
        }
        None => None,
    }
}

fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == kind)
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
