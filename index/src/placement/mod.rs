//! Where pods may run: node selectors, node affinity and tolerations, read for the engine.

mod affinity;
mod excess;
mod taints;

use k8s_openapi::api::core::v1::PodSpec;
use quotient_engine::snapshot::{NodeTerm, Placement};

pub(crate) use excess::excess;
pub(crate) use taints::taints;

/// Where a pod with this spec may run, as far as the engine models it: on no node, where the spec says more of that than is kept.
pub(crate) fn placement(spec: &PodSpec) -> Placement {
    if excess(spec).is_some() {
        return Placement { required: vec![NodeTerm::default()], ..Placement::default() };
    }
    let selector = spec.node_selector.iter().flatten();
    let node = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    Placement {
        node_selector: selector.map(|(key, value)| (key.clone(), value.clone())).collect(),
        required: node.map(affinity::required).unwrap_or_default(),
        preferred: node.map(affinity::preferred).unwrap_or_default(),
        tolerations: spec.tolerations.iter().flatten().filter_map(taints::toleration).collect(),
    }
}
