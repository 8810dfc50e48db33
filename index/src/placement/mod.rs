//! Where pods may run: node selectors, node affinity and tolerations, read for the engine.

mod affinity;
mod taints;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{NodeSelectorTerm, PodSpec};
use quotient_engine::snapshot::{NodeTerm, Placement};

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

/// The most terms, requirements, values, labels and tolerations that the placement of one pod may have together.
///
/// Each is compared with every node. A spec that excludes a thousand nodes by name is kept; an object has room for fifty times as
/// many. To keep a part would be wrong, because a pod without one of its requirements fits nodes that it cannot run on.
const MOST: usize = 1024;

/// Why the placement of a pod with this spec is not kept, if it is not.
pub(crate) fn excess(spec: &PodSpec) -> Option<String> {
    let size = size(spec);
    (size > MOST).then(|| {
        format!(
            "its node selector, node affinity and tolerations have {size} parts, and of pods with more than {MOST} none is placed"
        )
    })
}

fn size(spec: &PodSpec) -> usize {
    let node = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    let required = node.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
    let preferred = node.and_then(|node| node.preferred_during_scheduling_ignored_during_execution.as_ref());
    let required = required.into_iter().flat_map(|selector| &selector.node_selector_terms);
    let preferred = preferred.into_iter().flatten().map(|preferred| &preferred.preference);
    let labels = spec.node_selector.as_ref().map_or(0, BTreeMap::len);
    let tolerations = spec.tolerations.as_ref().map_or(0, Vec::len);
    let beside = labels.saturating_add(tolerations);
    required.chain(preferred).map(size_of_term).fold(beside, usize::saturating_add)
}

fn size_of_term(term: &NodeSelectorTerm) -> usize {
    let requirements = term.match_expressions.iter().chain(&term.match_fields).flatten();
    let sizes =
        requirements.map(|requirement| requirement.values.as_ref().map_or(0, Vec::len).saturating_add(1));
    sizes.fold(1, usize::saturating_add)
}
