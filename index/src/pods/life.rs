//! How far a pod has come.

use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Pod, PodCondition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use quotient_engine::snapshot::Phase;
use quotient_engine::time::Timestamp;

use crate::time::timestamp;

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
