//! A snapshot with a change applied, as `kubectl apply` would.

use std::collections::BTreeMap;

use json_patch::merge;
use quotient_crds::DEFAULT_WEIGHT;
use serde_json::{Map, Value, json};

use super::{Entry, Place, Snapshot};
use crate::objects::{find_text, in_words, plain};
use crate::output::{counted, list};

/// What a node that joins offers.
pub(crate) type NodeOffer = BTreeMap<String, String>;

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

impl Setting {
    /// The value in the fields that hold it, from spec on.
    pub(crate) fn spec(&self) -> Value {
        let within = |value, field: &String| Value::Object(Map::from_iter([(field.clone(), value)]));
        self.path.iter().rev().fold(self.value.clone(), within)
    }
}

/// The annotation in which kubectl remembers what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Changes `snapshot`: applies manifests, sets fields of Queues, takes nodes away with their pods, and adds nodes. Says what was
/// changed, a phrase each. The error says why that is not possible.
pub(crate) fn overlay(
    snapshot: &mut Snapshot,
    manifests: Vec<Entry>,
    settings: &[Setting],
    drained: &[String],
    added: &[NodeOffer],
) -> Result<Vec<String>, String> {
    let mut changes = Vec::new();
    changes.extend(manifests.into_iter().filter_map(|entry| apply(snapshot, entry)));
    for setting in settings {
        changes.push(set(snapshot, setting)?);
    }
    for node in drained {
        changes.push(drain(snapshot, node)?);
    }
    for (offer, number) in added.iter().zip(1_usize..) {
        let name = format!("added-{number}");
        changes.push(format!("add Node {name}"));
        snapshot.entries.push(Entry::written(Place::file("--add-node"), node(&name, offer)));
    }
    if !drained.is_empty() || !added.is_empty() {
        forget_counts(snapshot);
    }
    Ok(changes)
}

/// How many pods a DaemonSet wants follows from the nodes: what it reported is of other ones.
fn forget_counts(snapshot: &mut Snapshot) {
    for set in snapshot.entries.iter_mut().filter(|entry| entry.kind() == "DaemonSet") {
        set.change(|set| {
            set.as_object_mut().and_then(|fields| fields.remove("status"));
        });
    }
}

/// Group, kind, namespace and name; the namespace that manifests leave out is `default`.
fn key(entry: &Entry) -> [&str; 4] {
    let namespace = if entry.lacks_namespace() { "default" } else { entry.namespace() };
    [entry.group(), entry.kind(), namespace, entry.name()]
}

/// `Queue team-x`: the namespace is named where it differs.
fn words(entry: &Entry) -> String {
    let (kind, namespace, name) = (entry.kind(), entry.namespace(), entry.name());
    in_words(kind, if namespace == name { "" } else { namespace }, name)
}

fn is_queue(entry: &Entry) -> bool {
    entry.kind() == "Queue" && entry.group() == "quotient.dev"
}

/// ` (weight 1, request nvidia.com/gpu 8)` of a Queue.
fn queue_spec(entry: &Entry) -> String {
    let Some(value) = entry.json().filter(|_| is_queue(entry)) else { return String::new() };
    let weight = value.pointer("/spec/weight").map_or_else(|| DEFAULT_WEIGHT.to_string(), plain);
    let mut fields = vec![format!("weight {weight}")];
    for field in ["guaranteed", "limit", "request"] {
        let amounts = value.pointer(&format!("/spec/{field}")).and_then(Value::as_object);
        let amounts = amounts.into_iter().flatten().map(|(name, amount)| format!("{name} {}", plain(amount)));
        let amounts: Vec<String> = amounts.collect();
        fields.extend((!amounts.is_empty()).then(|| format!("{field} {}", amounts.join(" "))));
    }
    format!(" ({})", fields.join(", "))
}

/// Says what `entry` creates or changes; nothing if the object is as it says already.
fn apply(snapshot: &mut Snapshot, entry: Entry) -> Option<String> {
    let (name, wanted) = (words(&entry), key(&entry));
    let Some(found) = snapshot.entries.iter_mut().find(|other| key(other) == wanted) else {
        let spec = queue_spec(&entry);
        snapshot.entries.push(entry);
        return Some(format!("create {name}{spec}"));
    };
    let (mut former, manifest) = (None, entry.json()?);
    found.change(|object| {
        let before = object.clone();
        remove_unmentioned(object, manifest);
        merge(object, &without_status(manifest.clone()));
        former = (*object != before).then(|| before.into());
    });
    found.former.get_or_insert(former?);
    found.place.clone_from(&entry.place);
    // It is checked and completed as its author wrote it, and its controller acts on it.
    found.is_written = true;
    Some(format!("change {name}"))
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

fn set(snapshot: &mut Snapshot, setting: &Setting) -> Result<String, String> {
    let Setting { namespace, name, path, value } = setting;
    let is_it = |entry: &&mut Entry| {
        is_queue(entry)
            && entry.name() == name
            && namespace.as_ref().is_none_or(|namespace| entry.namespace() == namespace)
    };
    let mut found: Vec<&mut Entry> = snapshot.entries.iter_mut().filter(is_it).collect();
    if found.len() > 1 {
        let namespaces = list(found.iter().map(|entry| entry.namespace()));
        return Err(format!(
            "several namespaces have a Queue {name}: write queue/NAMESPACE/{name}, with one of {namespaces}"
        ));
    }
    let Some(entry) = found.pop() else {
        return Err(format!("there is no Queue {name} in {}", snapshot.source));
    };
    let mut at = entry.json().and_then(|queue| queue.get("spec"));
    for field in path.iter().take(path.len().saturating_sub(1)) {
        at = at.and_then(|value| value.get(field));
        if at.is_some_and(|value| !value.is_object() && !value.is_null()) {
            return Err(format!("set {}: {field} has no fields", path.join(".")));
        }
    }
    entry.change(|queue| merge(queue, &json!({"spec": setting.spec()})));
    entry.is_written = true;
    Ok(format!("set {} of {} to {}", path.join("."), words(entry), plain(value)))
}

/// The node and its pods are gone; controllers create theirs again.
fn drain(snapshot: &mut Snapshot, node: &str) -> Result<String, String> {
    let is_node = |entry: &Entry| entry.kind() == "Node" && entry.name() == node;
    if !snapshot.entries.iter().any(is_node) {
        return Err(format!("there is no Node {node} in {}", snapshot.source));
    }
    let is_pod = |entry: &Entry| entry.kind() == "Pod" && entry.node() == node;
    let pods = snapshot.entries.iter().filter(|entry| is_pod(entry));
    let (all, recreated) = (pods.clone().count(), pods.filter(|pod| pod.is_created_elsewhere()).count());
    let pods = counted(all, "pod", "pods");
    snapshot.entries.retain(|entry| !is_node(entry) && !is_pod(entry));
    Ok(format!("drain Node {node} ({pods}, of which controllers create {recreated} again)"))
}

fn node(name: &str, offer: &NodeOffer) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        "status": {"allocatable": offer},
    })
}
