//! Where pods may run: node selectors, node affinity and tolerations, read for the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{
    NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint as WrittenTaint,
    Toleration as Written,
};
use quotient_snapshot::{NodeRequirement, NodeTerm, Placement, Taint, TaintEffect, Toleration};

use crate::selector::requirement;

/// Where a pod with this spec may run, as far as the engine models it: on no node, where the spec says more of that than is kept.
pub(crate) fn placement(spec: &PodSpec) -> Placement {
    if excess(spec).is_some() {
        return Placement { required: vec![NodeTerm::default()], ..Placement::default() };
    }
    let selector = spec.node_selector.iter().flatten();
    let node = spec.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref());
    Placement {
        node_selector: selector.map(|(key, value)| (key.clone(), value.clone())).collect(),
        required: node.map(required).unwrap_or_default(),
        preferred: node.map(preferred).unwrap_or_default(),
        tolerations: spec.tolerations.iter().flatten().filter_map(toleration).collect(),
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

/// The one field by which nodes can be matched.
const NAME: &str = "metadata.name";

/// The terms of which one has to hold; none if nothing is required.
fn required(affinity: &NodeAffinity) -> Vec<NodeTerm> {
    let Some(selector) = &affinity.required_during_scheduling_ignored_during_execution else {
        return Vec::new();
    };
    if selector.node_selector_terms.is_empty() {
        // A selector without terms matches no node; no terms would mean no constraint.
        return vec![NodeTerm::default()];
    }
    selector.node_selector_terms.iter().map(term).collect()
}

/// The preferred terms with their weights. One without requirements is none at all, as in the scheduler.
fn preferred(affinity: &NodeAffinity) -> Vec<(i32, NodeTerm)> {
    let terms = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    let terms = terms.map(|preferred| (preferred.weight, term(&preferred.preference)));
    terms.filter(|(_, term)| *term != NodeTerm::default()).collect()
}

fn term(term: &NodeSelectorTerm) -> NodeTerm {
    let labels = term.match_expressions.iter().flatten().map(on_labels);
    let fields = term.match_fields.iter().flatten().map(on_fields);
    NodeTerm(labels.chain(fields).map(|requirement| requirement.unwrap_or_else(never)).collect())
}

fn on_labels(written: &NodeSelectorRequirement) -> Option<NodeRequirement> {
    let NodeSelectorRequirement { key, operator, values } = written;
    let bound = || match values.as_deref() {
        Some([bound]) => bound.parse().ok(),
        _ => None,
    };
    match operator.as_str() {
        "Gt" => Some(NodeRequirement::Above(key.clone(), bound()?)),
        "Lt" => Some(NodeRequirement::Below(key.clone(), bound()?)),
        _ => requirement(key, operator, values.as_deref()).map(NodeRequirement::Label),
    }
}

fn on_fields(written: &NodeSelectorRequirement) -> Option<NodeRequirement> {
    let NodeSelectorRequirement { key, operator, values } = written;
    let names = values.clone().unwrap_or_default();
    match (key.as_str(), operator.as_str()) {
        (NAME, "In") => Some(NodeRequirement::Named(names)),
        (NAME, "NotIn") => Some(NodeRequirement::NotNamed(names)),
        _ => None,
    }
}

/// What stands for a requirement that cannot be understood: the scheduler lets no node meet it.
fn never() -> NodeRequirement {
    NodeRequirement::Named(Vec::new())
}

/// The taints of nodes that are not Ready, whose `NoExecute` admission lets every pod tolerate for five minutes.
const NOT_READY: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// The toleration as the engine reads it; none for one that tolerates nothing, and for the two that admission
/// adds to every pod: they say how long it stays on a node that is lost, and pods are started only on others. The
/// template of an owner does not have them, and its pods should have the same shape.
fn toleration(written: &Written) -> Option<Toleration> {
    let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let value = match written.operator.as_deref() {
        None | Some("" | "Equal") => Some(written.value.clone().unwrap_or_default()),
        Some("Exists") => None,
        Some(_) => return None,
    };
    let effect = match some(&written.effect) {
        Some(effect) => Some(self::effect(&effect)?),
        None => None,
    };
    let key = some(&written.key);
    let stays_a_while = effect == Some(TaintEffect::NoExecute)
        && value.is_none()
        && key.as_deref().is_some_and(|key| NOT_READY.contains(&key));
    (!stays_a_while).then_some(Toleration { key, value, effect })
}

/// The taints of a node, without when they were added. One with an unknown effect does nothing.
pub(crate) fn taints(written: &[WrittenTaint]) -> Arc<[Taint]> {
    let taints = written.iter().filter_map(|taint| {
        let value = taint.value.clone().unwrap_or_default();
        Some(Taint { key: taint.key.clone(), value, effect: effect(&taint.effect)? })
    });
    taints.collect()
}

fn effect(name: &str) -> Option<TaintEffect> {
    match name {
        "NoSchedule" => Some(TaintEffect::NoSchedule),
        "PreferNoSchedule" => Some(TaintEffect::PreferNoSchedule),
        "NoExecute" => Some(TaintEffect::NoExecute),
        _ => None,
    }
}
