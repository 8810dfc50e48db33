//! How far a pod has come: its gate, its phase, when it started, and since when it does not get on.

use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Pod, PodCondition, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quotient_crds::names::SHARE_GATE;
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{GatePosition, Phase};

use crate::meta::timestamp;

/// The pod's phase. One that is not known to run or to have ended is Pending.
pub(super) fn phase(pod: &Pod) -> Phase {
    match pod.status.as_ref().and_then(|status| status.phase.as_deref()) {
        Some("Running") => Phase::Running,
        Some("Succeeded" | "Failed") => Phase::Finished,
        _ => Phase::Pending,
    }
}

/// When the first of the pod's containers started.
///
/// The earliest start that the kubelet still reports; for a running pod of which it reports none, the time at
/// which the kubelet took it on. The start before the last restart is the furthest that a kubelet remembers.
pub(super) fn started(pod: &Pod) -> Option<Timestamp> {
    let status = pod.status.as_ref()?;
    let containers = status.container_statuses.iter().flatten();
    let first = containers.filter_map(first_start).min();
    let taken_on = || status.start_time.as_ref().filter(|_| phase(pod) == Phase::Running);
    first.or_else(taken_on).map(timestamp)
}

fn first_start(container: &ContainerStatus) -> Option<&Time> {
    [container.state.as_ref(), container.last_state.as_ref()].into_iter().flatten().filter_map(start).min()
}

fn start(state: &ContainerState) -> Option<&Time> {
    let running = state.running.as_ref().and_then(|running| running.started_at.as_ref());
    running.or_else(|| state.terminated.as_ref().and_then(|ended| ended.started_at.as_ref()))
}

/// Whether the pod was evicted, by Quotient or another client: the API server notes that on it before it marks it for deletion.
pub(super) fn was_evicted(pod: &Pod) -> bool {
    let tells = |condition: &PodCondition| {
        condition.type_ == "DisruptionTarget"
            && condition.status == "True"
            && condition.reason.as_deref() == Some("EvictionByEvictionAPI")
    };
    pod.status.as_ref().is_some_and(|status| status.conditions.iter().flatten().any(tells))
}

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

/// Where among the gates of a pod ours is; none if it is not there.
///
/// Behind more than 254 others it is not found: then the pod counts as one that uses its requests, and waits.
pub(super) fn gate(spec: Option<&PodSpec>) -> Option<GatePosition> {
    let gates = spec?.scheduling_gates.as_deref()?;
    let position = gates.iter().position(|gate| gate.name == SHARE_GATE)?;
    GatePosition::new(position)
}
