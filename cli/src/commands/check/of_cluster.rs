//! Checks of the cluster itself, and of what adds nodes to it.

use serde_json::Value;

use super::CheckContext;
use super::finding::{Found, Seen};
use crate::commands::migrate::KUEUE_QUEUE_NAME;
use crate::objects::{Object, in_words, text};

/// The minor versions of Kubernetes that Quotient is tested with.
const SUPPORTED: std::ops::RangeInclusive<u32> = 34..=36;

pub(super) fn version(context: &CheckContext<'_>) -> Seen {
    let facts = context.facts?;
    let (major, minor) = facts.version?;
    let is_supported = major == 1 && SUPPORTED.contains(&minor);
    let found =
        Found::when(!is_supported, || format!("Kubernetes {major}.{minor} is not among 1.34 to 1.36"));
    Some(found.or_tell(format!("Kubernetes {} (supported 1.34 to 1.36)", facts.full_version)))
}

/// The definitions of this version, by their names. Rejected: to generate them from the types, because the program would hold
/// all that makes schemas.
const DEFINITIONS: [(&str, &str); 2] = [
    ("queues.quotient.dev", include_str!("../../../../crds/yaml/queues.quotient.dev.yaml")),
    ("queuejobs.quotient.dev", include_str!("../../../../crds/yaml/queuejobs.quotient.dev.yaml")),
];

fn definition<'a>(crds: &'a [Value], wanted: &str) -> Option<&'a Value> {
    crds.iter().find(|crd| text(crd, "/metadata/name") == wanted)
}

pub(super) fn crd_missing(context: &CheckContext<'_>) -> Seen {
    let crds = context.facts?.crds.as_ref()?;
    let missing = DEFINITIONS.iter().filter(|(name, _)| definition(crds, name).is_none());
    Some(Found::each(missing.map(|(name, _)| format!("the kind {name} is not installed"))))
}

/// The fields that this version knows and the installed kind does not.
pub(super) fn crd_outdated(context: &CheckContext<'_>) -> Seen {
    let crds = context.facts?.crds.as_ref()?;
    let mut outdated = Vec::new();
    for (name, manifest) in DEFINITIONS {
        let expected: Value = serde_yaml_ng::from_str(manifest).ok()?;
        let Some(installed) = definition(crds, name) else { continue };
        let mut missing = Vec::new();
        missing_fields(schema(&expected), schema(installed), "", &mut missing);
        if !missing.is_empty() {
            outdated.push(format!("the kind {name} lacks {}", missing.join(", ")));
        }
    }
    Some(Found::each(outdated).or_tell(format!("kinds match {}", env!("CARGO_PKG_VERSION"))))
}

fn schema(crd: &Value) -> &Value {
    crd.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap_or(&Value::Null)
}

/// Adds the paths below `place` that the schema `expected` has and `installed` has not: of a field that is missing as a whole
/// only its own.
fn missing_fields(expected: &Value, installed: &Value, place: &str, missing: &mut Vec<String>) {
    let dot = if place.is_empty() { "" } else { "." };
    for (name, field) in expected["properties"].as_object().into_iter().flatten() {
        let path = format!("{place}{dot}{name}");
        match installed["properties"].get(name) {
            Some(known) => missing_fields(field, known, &path, missing),
            None => missing.push(path),
        }
    }
    for (of_each, mark) in [("items", "[]"), ("additionalProperties", ".*")] {
        if expected[of_each].is_object() {
            missing_fields(&expected[of_each], &installed[of_each], &format!("{place}{mark}"), missing);
        }
    }
}

/// The policies of the chart that bind the operator and protect the quotas.
const POLICIES: [&str; 2] = ["quotient-operator", "quotient-quotas"];

pub(super) fn policies(context: &CheckContext<'_>) -> Seen {
    let policies = context.facts?.policies.as_ref()?;
    let missing = POLICIES.iter().filter(|name| !policies.iter().any(|policy| policy == *name));
    let sentences = missing.map(|name| format!("the ValidatingAdmissionPolicy {name} is not installed"));
    Some(Found::each(sentences).or_tell("admission policies"))
}

pub(super) fn no_capacity(context: &CheckContext<'_>) -> Seen {
    Some(Found::when(context.cluster.plan()?.capacity.is_empty(), || {
        "no node counts toward the capacity, so no quota shrinks and no pod is evicted".to_owned()
    }))
}

/// Names of programs that add nodes, and the label that one of them puts on nodes.
const AUTOSCALERS: [&str; 2] = ["cluster-autoscaler", "karpenter"];
const NODE_POOL: &str = "karpenter.sh/nodepool";

pub(super) fn autoscaler(context: &CheckContext<'_>) -> Seen {
    if let Some(operator) = &context.cluster.operator {
        let settings = operator.settings.as_ref().ok()?;
        if !settings.index.ceiling.is_empty() || !settings.index.engine.expandable.is_empty() {
            return Some(Found::default());
        }
    }
    let sign = context.objects().find_map(|object| match object {
        Object::Deployment(_) if AUTOSCALERS.iter().any(|program| object.name().contains(program)) => {
            Some(format!("Deployment {}/{} adds nodes", object.namespace(), object.name()))
        }
        Object::Node(node) => {
            let pool = node.metadata.labels.as_ref().and_then(|labels| labels.get(NODE_POOL))?;
            Some(format!("nodes belong to Karpenter NodePool {pool:?}"))
        }
        _ => None,
    });
    let sentence =
        |sign| format!("{sign}, and capacity is Nodes: pods that a quota rejects never add a node");
    Some(Found::each(sign.map(sentence)))
}

pub(super) fn kueue(context: &CheckContext<'_>) -> Found {
    let is_labeled = |object: &&Object| {
        object.metadata().labels.as_ref().is_some_and(|labels| labels.contains_key(KUEUE_QUEUE_NAME))
    };
    let labeled = context.managed_objects().filter(is_labeled);
    Found::each(labeled.map(|object| {
        let name = in_words(object.kind().name(), object.namespace(), object.name());
        format!("{name} belongs to Kueue, and its namespace has a Queue")
    }))
}
