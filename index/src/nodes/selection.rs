//! Which nodes may count at all.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use kube::core::{Selector, SelectorExt};

/// Label and taint of a control-plane node.
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// Whether `node` counts once it is Ready and schedulable: selected, and not kept for the control plane.
///
/// The label of a control-plane node alone does not exclude it: clusters of one node carry it too, and take
/// pods.
pub(crate) fn is_selected(node: &Node, selector: &Selector) -> bool {
    let unlabelled = BTreeMap::new();
    let labels = node.metadata.labels.as_ref().unwrap_or(&unlabelled);
    let spec = node.spec.as_ref();
    let mut taints = spec.and_then(|spec| spec.taints.as_ref()).into_iter().flatten();
    let control_plane = labels.contains_key(CONTROL_PLANE)
        && taints.any(|taint| taint.key == CONTROL_PLANE && taint.effect == "NoSchedule");
    !control_plane && selector.matches(labels)
}

/// Whether new pods may run on `node`.
pub(crate) fn is_schedulable(node: &Node) -> bool {
    !node.spec.as_ref().and_then(|spec| spec.unschedulable).unwrap_or(false)
}
