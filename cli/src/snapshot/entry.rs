//! One object as it was read, where it stands, and the latest time in it.

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::objects::{Kind, decoded, text, time};

/// One object as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where it stands.
    pub(crate) place: Place,
    pub(crate) content: Content,
    /// Whether a person wrote it, so that defaults are missing and mistakes are errors.
    pub(crate) is_written: bool,
    /// What it was before a change.
    pub(crate) former: Option<Arc<Value>>,
}

/// An object, with apiVersion and kind. Snapshots that differ in a few objects share the others.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Json(Arc<Value>),
    /// A pod of a cluster. Most objects are pods, and as JSON they would take three times the memory.
    Pod(Arc<Pod>),
}

impl Content {
    /// A pod that an API server returned as its type; everything else as it is.
    pub(crate) fn read(value: Value) -> Self {
        let pod = if text(&value, "/kind") == "Pod" { decoded(&value) } else { None };
        pod.map_or_else(|| value.into(), |pod| Self::Pod(Arc::new(pod)))
    }
}

impl From<Value> for Content {
    fn from(value: Value) -> Self {
        Self::Json(Arc::new(value))
    }
}

impl Entry {
    /// One that a person wrote.
    pub(crate) fn written(place: Place, value: Value) -> Self {
        Self { place, content: value.into(), is_written: true, former: None }
    }

    /// Its JSON, unless it is kept as its type.
    pub(crate) fn json(&self) -> Option<&Value> {
        match &self.content {
            Content::Json(value) => Some(value),
            Content::Pod(_) => None,
        }
    }

    /// Changes its JSON. What was kept as its type is JSON from then on.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Value)) {
        match &mut self.content {
            Content::Json(value) => change(Arc::make_mut(value)),
            Content::Pod(pod) => {
                let mut value = serde_json::to_value(pod).unwrap_or_default();
                change(&mut value);
                self.content = value.into();
            }
        }
    }

    /// Puts what names no namespace into `namespace`, as `kubectl apply -n` does.
    pub(crate) fn place_in(&mut self, namespace: &str) {
        if self.lacks_namespace() {
            self.change(|value| {
                if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
                    metadata.insert("namespace".to_owned(), namespace.into());
                }
            });
        }
    }

    /// Whether it names no namespace, and its kind is not known to have none.
    pub(super) fn lacks_namespace(&self) -> bool {
        self.namespace().is_empty() && !Kind::is_cluster_wide(self.kind())
    }

    pub(crate) fn kind(&self) -> &str {
        self.text("/kind", |_| Some("Pod"))
    }

    /// Its API group; empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.text("/apiVersion", |_| None).split_once('/').map_or("", |(group, _)| group)
    }

    /// Its namespace; empty if it names none.
    pub(crate) fn namespace(&self) -> &str {
        self.text("/metadata/namespace", |pod| pod.metadata.namespace.as_deref())
    }

    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name", |pod| pod.metadata.name.as_deref())
    }

    /// The node that a pod is bound to; empty for everything else.
    pub(crate) fn node(&self) -> &str {
        self.text("/spec/nodeName", |pod| pod.spec.as_ref()?.node_name.as_deref())
    }

    /// Whether an owner creates it again on another node. Pods of a DaemonSet and of the kubelet belong to their node.
    pub(crate) fn is_created_elsewhere(&self) -> bool {
        let is_free = |owner: &str| !matches!(owner, "DaemonSet" | "Node");
        match &self.content {
            Content::Json(value) => {
                let owners = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
                owners.into_iter().flatten().any(|owner| is_free(text(owner, "/kind")))
            }
            Content::Pod(pod) => {
                pod.metadata.owner_references.iter().flatten().any(|owner| is_free(&owner.kind))
            }
        }
    }

    /// The text at a pointer, or in the pod; empty if there is none.
    fn text(&self, pointer: &str, of_pod: fn(&Pod) -> Option<&str>) -> &str {
        match &self.content {
            Content::Json(value) => text(value, pointer),
            Content::Pod(pod) => of_pod(pod).unwrap_or_default(),
        }
    }
}

/// The place of one object in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file as the user named it, or as it was found in a directory.
    pub(crate) file: String,
    /// The number of the document, from 1, if the file has several.
    pub(crate) document: Option<usize>,
    /// The number of the item, from 0, if the document is a list.
    pub(crate) item: Option<usize>,
}

impl Place {
    pub(crate) fn file(file: &str) -> Self {
        Self { file: file.to_owned(), document: None, item: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(document) = self.document {
            write!(formatter, " (document {document})")?;
        }
        if let Some(item) = self.item {
            write!(formatter, " items[{item}]")?;
        }
        Ok(())
    }
}

/// The latest time that stands in the object's metadata or status.
///
/// Only fields named as Kubernetes names times count (`…Timestamp`, `…Time`, `…At`, `time`), and none in spec: a date among a
/// container's arguments is not a time at which something happened. A deletion was before its timestamp, which is a deadline.
pub(super) fn latest_time(object: &Value) -> Option<Timestamp> {
    ["metadata", "status"].into_iter().filter_map(|part| latest_in(object.get(part)?)).max()
}

fn latest_in(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Object(fields) => {
            let grace = fields.get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
            let deleted = |deadline: Timestamp| deadline.plus_seconds(grace.saturating_neg());
            fields
                .iter()
                // Annotations and labels hold anything.
                .filter(|(name, _)| !matches!(name.as_str(), "annotations" | "labels"))
                .filter_map(|(name, value)| match value {
                    Value::String(text) if name == "deletionTimestamp" => time(text).ok().map(deleted),
                    Value::String(text) if is_time(name) => time(text).ok(),
                    _ => latest_in(value),
                })
                .max()
        }
        Value::Array(values) => values.iter().filter_map(latest_in).max(),
        _ => None,
    }
}

fn is_time(field: &str) -> bool {
    field == "time" || ["Timestamp", "Time", "At"].iter().any(|ending| field.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_times_of_metadata_and_status_count() {
        let object = json!({
            "metadata": {
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "annotations": {"expiryTime": "2040-01-01T00:00:00Z"},
            },
            "spec": {"startTime": "2040-01-01T00:00:00Z"},
            "status": {
                "message": "2040-01-01T00:00:00Z",
                "containerStatuses": [{"state": {"running": {"startedAt": "2026-01-01T00:00:05Z"}}}],
            },
        });
        let expected = time("2026-01-01T00:00:05Z").ok();
        assert!(expected.is_some());
        assert_eq!(latest_time(&object), expected);
        assert_eq!(latest_time(&json!({"spec": {}})), None);
        let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:35Z", "deletionGracePeriodSeconds": 30}});
        assert_eq!(latest_time(&deleted), expected);
    }
}
