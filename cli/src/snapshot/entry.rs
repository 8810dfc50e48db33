//! One object as it was read.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use serde::Serialize;
use serde_json::Value;

use super::Place;
use crate::objects::{decode, text};

/// One object as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where it stands.
    pub(crate) place: Place,
    pub(crate) content: Content,
    /// Whether a person wrote it, so that defaults are missing and mistakes are errors.
    pub(crate) is_written: bool,
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
    /// A pod as its type, if that loses no field; everything else as it is.
    pub(crate) fn read(value: Value) -> Self {
        if text(&value, "/kind") == "Pod"
            && let Ok((pod, unknown)) = decode(&value)
            && unknown.is_empty()
        {
            return Self::Pod(Arc::new(pod));
        }
        value.into()
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
        Self { place, content: value.into(), is_written: true }
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

    /// Whether it names an owner.
    pub(crate) fn has_owner(&self) -> bool {
        match &self.content {
            Content::Json(value) => {
                let owners = value.pointer("/metadata/ownerReferences").and_then(Value::as_array);
                owners.is_some_and(|owners| !owners.is_empty())
            }
            Content::Pod(pod) => pod.metadata.owner_references.iter().flatten().next().is_some(),
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
