//! A snapshot with a change applied, as `kubectl apply` would.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use quotient_crds::DEFAULT_WEIGHT;
use serde_json::{Map, Value};

use super::{Entry, Place, Snapshot};
use crate::objects::{find_text, text};

/// What differs from the snapshot.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// Manifests to apply.
    pub(crate) manifests: Vec<Entry>,
    /// Fields of Queues to set.
    pub(crate) settings: Vec<Setting>,
    /// Nodes that leave, with their pods.
    pub(crate) drained: Vec<String>,
    /// Nodes that join, by what they offer.
    pub(crate) added: Vec<BTreeMap<String, String>>,
}

/// One field of one Queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// None for the namespace of the only Queue of that name.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// The path below spec.
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
}

/// Why a change cannot be applied.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OverlayError {
    /// No object has the name.
    #[error("there is no {0}")]
    NotFound(String),
    /// Several objects have the name.
    #[error("several namespaces have a Queue {name}: write queue/NAMESPACE/{name}, with one of {namespaces}")]
    Ambiguous { name: String, namespaces: String },
    /// A field in the path is no map.
    #[error("set {path}: {field} has no fields")]
    NoMap { path: String, field: String },
}

/// The annotation in which kubectl remembers what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Applies `change` to `snapshot`; says what was changed, a phrase each.
pub(crate) fn overlay(snapshot: &mut Snapshot, change: Change) -> Result<Vec<String>, OverlayError> {
    let mut told = Vec::new();
    for entry in change.manifests {
        told.push(apply(snapshot, entry));
    }
    for setting in &change.settings {
        told.push(set(snapshot, setting)?);
    }
    for node in &change.drained {
        told.push(drain(snapshot, node)?);
    }
    for (offer, number) in change.added.iter().zip(1_usize..) {
        let name = format!("added-{number}");
        told.push(format!("add Node {name}"));
        snapshot.entries.push(Entry {
            place: Place::file("--add-node"),
            value: Arc::new(node(&name, offer)),
            is_written: true,
        });
    }
    Ok(told)
}

/// Kind, namespace and name; the namespace that manifests leave out is `default`.
fn key(value: &Value) -> (String, String, String) {
    let kind = text(value, "/kind").to_owned();
    let namespace = text(value, "/metadata/namespace");
    let is_cluster_wide = matches!(kind.as_str(), "Node" | "Namespace" | "PriorityClass");
    let namespace = if namespace.is_empty() && !is_cluster_wide { "default" } else { namespace };
    let group = text(value, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    (format!("{group}/{kind}"), namespace.to_owned(), text(value, "/metadata/name").to_owned())
}

/// `Queue team-x`: the namespace is named where it differs.
fn words(value: &Value) -> String {
    let (kind, namespace, name) =
        (text(value, "/kind"), text(value, "/metadata/namespace"), text(value, "/metadata/name"));
    if namespace.is_empty() || namespace == name {
        format!("{kind} {name}")
    } else {
        format!("{kind} {namespace}/{name}")
    }
}

/// ` (weight 1, request nvidia.com/gpu 8)` of a Queue.
fn queue_spec(value: &Value) -> String {
    if text(value, "/kind") != "Queue" || !text(value, "/apiVersion").starts_with("quotient.dev/") {
        return String::new();
    }
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let weight = value.pointer("/spec/weight").map_or_else(|| DEFAULT_WEIGHT.to_string(), plain);
    let mut told = vec![format!("weight {weight}")];
    for field in ["guaranteed", "limit", "request"] {
        let amounts = value.pointer(&format!("/spec/{field}")).and_then(Value::as_object);
        let amounts = amounts.into_iter().flatten().map(|(name, amount)| format!("{name} {}", plain(amount)));
        let amounts: Vec<String> = amounts.collect();
        told.extend((!amounts.is_empty()).then(|| format!("{field} {}", amounts.join(" "))));
    }
    format!(" ({})", told.join(", "))
}

/// Has these pods among the entries.
fn write_out(snapshot: &mut Snapshot, is_wanted: impl Fn(&Pod) -> bool) {
    let wanted = snapshot.pods.extract_if(.., |pod| is_wanted(pod));
    let written = wanted.filter_map(|pod| serde_json::to_value(&*pod).ok()).collect();
    snapshot.add(written);
}

fn apply(snapshot: &mut Snapshot, entry: Entry) -> String {
    let wanted = key(&entry.value);
    let (kind, namespace, name) = &wanted;
    write_out(snapshot, |pod| {
        let of = &pod.metadata;
        kind == "/Pod" && of.namespace.as_ref() == Some(namespace) && of.name.as_ref() == Some(name)
    });
    let told = words(&entry.value);
    let Some(found) = snapshot.entries.iter_mut().find(|other| key(&other.value) == wanted) else {
        let spec = queue_spec(&entry.value);
        snapshot.entries.push(entry);
        return format!("create {told}{spec}");
    };
    let object = Arc::make_mut(&mut found.value);
    remove_unmentioned(object, &entry.value);
    merge(object, without_status(Arc::unwrap_or_clone(entry.value)));
    found.place = entry.place;
    // It is checked and completed as its author wrote it, and its controller acts on it.
    found.is_written = true;
    format!("change {told}")
}

/// Status and identity of an object are the cluster's.
fn without_status(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.remove("status");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            for field in ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"] {
                metadata.remove(field);
            }
        }
    }
    value
}

/// A merge as in RFC 7386: maps are merged, everything else is replaced, null removes.
fn merge(base: &mut Value, change: Value) {
    let Value::Object(fields) = change else {
        *base = change;
        return;
    };
    if !base.is_object() {
        *base = Value::Object(Map::new());
    }
    let Value::Object(kept) = base else { return };
    for (name, value) in fields {
        if value.is_null() {
            kept.remove(&name);
        } else {
            merge(kept.entry(name).or_insert(Value::Null), value);
        }
    }
}

/// Removes what the last `kubectl apply` wrote and the change leaves out.
fn remove_unmentioned(base: &mut Value, change: &Value) {
    let pointer = format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1"));
    let last = find_text(base, &pointer);
    let Some(Ok(last)) = last.map(serde_json::from_str::<Value>) else { return };
    if let (Some(base), Some(last)) = (base.get_mut("spec"), last.get("spec")) {
        subtract(base, last, change.get("spec").unwrap_or(&Value::Null));
    }
}

fn subtract(base: &mut Value, last: &Value, change: &Value) {
    let (Value::Object(base), Value::Object(last)) = (base, last) else { return };
    for (name, was) in last {
        match (change.get(name), base.get_mut(name)) {
            (None, Some(_)) => {
                base.remove(name);
            }
            (Some(change), Some(kept)) => subtract(kept, was, change),
            (_, None) => {}
        }
    }
}

fn set(snapshot: &mut Snapshot, setting: &Setting) -> Result<String, OverlayError> {
    let Setting { namespace, name, path, value } = setting;
    let is_it = |entry: &&mut Entry| {
        text(&entry.value, "/kind") == "Queue"
            && text(&entry.value, "/apiVersion").starts_with("quotient.dev/")
            && text(&entry.value, "/metadata/name") == name
            && namespace
                .as_ref()
                .is_none_or(|namespace| text(&entry.value, "/metadata/namespace") == namespace)
    };
    let mut found: Vec<&mut Entry> = snapshot.entries.iter_mut().filter(is_it).collect();
    if found.len() > 1 {
        let namespaces: Vec<&str> =
            found.iter().map(|entry| text(&entry.value, "/metadata/namespace")).collect();
        return Err(OverlayError::Ambiguous { name: name.clone(), namespaces: namespaces.join(", ") });
    }
    let Some(entry) = found.pop() else { return Err(OverlayError::NotFound(format!("Queue {name}"))) };
    let mut patch = value.clone();
    for field in path.iter().rev() {
        patch = Value::Object(Map::from_iter([(field.clone(), patch)]));
    }
    let mut at = entry.value.get("spec");
    for field in path.iter().take(path.len().saturating_sub(1)) {
        at = at.and_then(|value| value.get(field));
        if at.is_some_and(|value| !value.is_object() && !value.is_null()) {
            return Err(OverlayError::NoMap { path: path.join("."), field: field.clone() });
        }
    }
    merge(Arc::make_mut(&mut entry.value), Value::Object(Map::from_iter([("spec".to_owned(), patch)])));
    entry.is_written = true;
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(format!("set {} of {} to {written}", path.join("."), words(&entry.value)))
}

/// The node and its pods are gone; controllers create theirs again.
fn drain(snapshot: &mut Snapshot, node: &str) -> Result<String, OverlayError> {
    let is_node =
        |entry: &Entry| text(&entry.value, "/kind") == "Node" && text(&entry.value, "/metadata/name") == node;
    if !snapshot.entries.iter().any(is_node) {
        return Err(OverlayError::NotFound(format!("Node {node}")));
    }
    write_out(snapshot, |pod| pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some(node));
    let is_pod =
        |entry: &Entry| text(&entry.value, "/kind") == "Pod" && text(&entry.value, "/spec/nodeName") == node;
    let pods = snapshot.entries.iter().filter(|entry| is_pod(entry));
    let has_controller = |entry: &&Entry| {
        let owners = entry.value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        owners.is_some_and(|owners| !owners.is_empty())
    };
    let (all, recreated) = (pods.clone().count(), pods.filter(has_controller).count());
    snapshot.entries.retain(|entry| !is_node(entry) && !is_pod(entry));
    Ok(format!("drain Node {node} ({all} pods, of which controllers create {recreated} again)"))
}

fn node(name: &str, offer: &BTreeMap<String, String>) -> Value {
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        "status": {"allocatable": offer},
    })
}
