//! What a Queue may take, what may be taken from it, and its place in the tree: its parent, and whose parent it may be.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::{
    Admission as WrittenAdmission, Children, Eviction, LabelOperator, LabelRequirement, LabelSelector,
    MAX_EVICTION_SECONDS, MAX_MIN_RUNTIME_SECONDS, NamespacesFrom, ParentRef, Reclaim as WrittenReclaim,
};
use quotient_snapshot::labels::{Requirement, Selector};
use quotient_snapshot::names::QueueName;
use quotient_snapshot::{Acceptance, Admission, EvictionRules, Reclaim};

use super::mistakes::Mistakes;

pub(super) fn reclaim(written: Option<&WrittenReclaim>, mistakes: &mut Mistakes) -> Reclaim {
    let Some(written) = written else { return Reclaim::default() };
    Reclaim {
        from: written.from,
        after_seconds: mistakes.whole(written.after_seconds, MAX_EVICTION_SECONDS, "reclaim.afterSeconds"),
    }
}

pub(super) fn eviction(written: Option<&Eviction>, mistakes: &mut Mistakes) -> EvictionRules {
    let Some(written) = written else { return EvictionRules::default() };
    let mut seconds = |value: Option<i32>, most, field: &str| {
        value.map(|value| mistakes.whole(value, most, &format!("eviction.{field}")))
    };
    EvictionRules {
        policy: written.policy,
        min_runtime_seconds: seconds(
            written.min_runtime_seconds,
            MAX_MIN_RUNTIME_SECONDS,
            "minRuntimeSeconds",
        ),
        last_replica: written.last_replica,
        gangs: written.gangs,
        max_grace_seconds: seconds(written.max_grace_seconds, MAX_EVICTION_SECONDS, "maxGraceSeconds"),
        force_after_seconds: seconds(written.force_after_seconds, MAX_EVICTION_SECONDS, "forceAfterSeconds"),
    }
}

pub(super) const fn admission(written: WrittenAdmission) -> Admission {
    match written {
        WrittenAdmission::Quota => Admission::Quota,
        WrittenAdmission::Gate => Admission::Gate,
    }
}

/// The parent that `spec.parentRef` names, in the Queue's own namespace unless it says otherwise.
pub(super) fn parent(reference: &ParentRef, own: &ObjectMeta, mistakes: &mut Mistakes) -> QueueName {
    if reference.name.is_empty() {
        mistakes.add("spec.parentRef.name is empty: write the name of the parent queue".to_owned());
    }
    let namespace = reference.namespace.as_deref().filter(|namespace| !namespace.is_empty());
    let own_namespace = own.namespace.as_deref().unwrap_or_default();
    QueueName::new(namespace.unwrap_or(own_namespace), &*reference.name)
}

/// Whose parent a Queue with `spec.children` may be.
pub(super) fn acceptance(children: &Children, mistakes: &mut Mistakes) -> Acceptance {
    let Some(namespaces) = &children.namespaces else { return Acceptance::Same };
    match (namespaces.from, &namespaces.selector) {
        (NamespacesFrom::Selector, Some(selector)) => Acceptance::Selector(read(selector, mistakes)),
        (NamespacesFrom::Same, None) => Acceptance::Same,
        (NamespacesFrom::All, None) => Acceptance::All,
        (NamespacesFrom::Selector, None) => {
            mistakes.add(
                "spec.children.namespaces.from is Selector, but there is no selector: \
                 write one, such as {matchLabels: {org: research}}"
                    .to_owned(),
            );
            Acceptance::Same
        }
        (NamespacesFrom::Same | NamespacesFrom::All, Some(_)) => {
            mistakes.add(
                "spec.children.namespaces.selector counts only with from: Selector: \
                 write that, or leave selector out"
                    .to_owned(),
            );
            Acceptance::Same
        }
    }
}

fn read(selector: &LabelSelector, mistakes: &mut Mistakes) -> Selector {
    let labels = selector.match_labels.iter().flatten();
    let labels = labels.map(|(key, value)| Requirement::In(key.clone(), vec![value.clone()]));
    let expressions = selector.match_expressions.iter().flatten();
    Selector::new(labels.chain(expressions.map(|requirement| read_one(requirement, mistakes))))
}

fn read_one(requirement: &LabelRequirement, mistakes: &mut Mistakes) -> Requirement {
    let LabelRequirement { key, operator, values } = requirement;
    let values = values.clone().unwrap_or_default();
    let takes_values = matches!(operator, LabelOperator::In | LabelOperator::NotIn);
    if takes_values == values.is_empty() {
        let problem = if takes_values {
            "needs values: write at least one"
        } else {
            "takes no values: leave values out"
        };
        mistakes.add(format!("spec.children.namespaces.selector: {operator:?} of {key:?} {problem}"));
    }
    let key = key.clone();
    match operator {
        LabelOperator::In => Requirement::In(key, values),
        LabelOperator::NotIn => Requirement::NotIn(key, values),
        LabelOperator::Exists => Requirement::Exists(key),
        LabelOperator::DoesNotExist => Requirement::DoesNotExist(key),
    }
}
