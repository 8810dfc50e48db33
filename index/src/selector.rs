//! The label selectors of Kubernetes' own objects.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use quotient_snapshot::labels::{Requirement, Selector};

/// The selector as the engine reads it; none if it has a requirement that Kubernetes does not know, which then
/// matches nothing.
pub(crate) fn selector(written: &LabelSelector) -> Option<Selector> {
    let labels = written.match_labels.iter().flatten();
    let labels = labels.map(|(key, value)| Some(Requirement::In(key.clone(), vec![value.clone()])));
    let expressions = written.match_expressions.iter().flatten();
    let all: Option<Vec<Requirement>> = labels.chain(expressions.map(expression)).collect();
    all.map(Selector::new)
}

fn expression(written: &LabelSelectorRequirement) -> Option<Requirement> {
    requirement(&written.key, &written.operator, written.values.as_deref())
}

/// The requirement on a label that has one of the four operators that every selector of Kubernetes has.
pub(crate) fn requirement(key: &str, operator: &str, values: Option<&[String]>) -> Option<Requirement> {
    let key = key.to_owned();
    let values = || values.map(<[String]>::to_vec).unwrap_or_default();
    match operator {
        "In" => Some(Requirement::In(key, values())),
        "NotIn" => Some(Requirement::NotIn(key, values())),
        "Exists" => Some(Requirement::Exists(key)),
        "DoesNotExist" => Some(Requirement::DoesNotExist(key)),
        _ => None,
    }
}
