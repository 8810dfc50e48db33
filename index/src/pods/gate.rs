//! The gate that holds a pod until its queue has room.

use k8s_openapi::api::core::v1::PodSpec;
use quotient_crds::names::SHARE_GATE;
use quotient_engine::snapshot::GatePosition;

/// Where among the gates of a pod ours is; none if it is not there.
///
/// Behind more than 254 others it is not found: then the pod counts as one that uses its requests, and waits.
pub(super) fn gate(spec: Option<&PodSpec>) -> Option<GatePosition> {
    let gates = spec?.scheduling_gates.as_deref()?;
    let position = gates.iter().position(|gate| gate.name == SHARE_GATE)?;
    GatePosition::new(position)
}
