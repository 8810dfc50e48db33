//! Node affinity.

use k8s_openapi::api::core::v1::{NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm};
use quotient_engine::snapshot::{NodeRequirement, NodeTerm};

use crate::selector::requirement;

/// The one field by which nodes can be matched.
const NAME: &str = "metadata.name";

/// The terms of which one has to hold; none if nothing is required.
pub(super) fn required(affinity: &NodeAffinity) -> Vec<NodeTerm> {
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
pub(super) fn preferred(affinity: &NodeAffinity) -> Vec<(i32, NodeTerm)> {
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
