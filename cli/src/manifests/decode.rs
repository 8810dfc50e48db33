//! From a document to a typed object, with every field that is not understood named.

use std::fmt::Write;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::known::Kind;
use super::object::Object;
use super::pod_group::AnyPodGroup;

/// An object, and the fields of it that its type does not know.
pub(super) struct Decoded {
    pub(super) object: Object,
    /// Their paths.
    pub(super) unknown_fields: Vec<String>,
}

/// Reads `value` as an object of `kind`. The error names the field.
pub(super) fn decode(kind: Kind, mut value: Value) -> Result<Decoded, String> {
    let api_version = value.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    // They have done their duty, and our own types know them not as fields.
    if let Value::Object(fields) = &mut value {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    let mut unknown_fields = Vec::new();
    let object = match kind {
        Kind::Namespace => Object::Namespace(typed(value, &mut unknown_fields)?),
        Kind::Node => Object::Node(typed(value, &mut unknown_fields)?),
        Kind::Pod => Object::Pod(typed(value, &mut unknown_fields)?),
        Kind::Deployment => Object::Deployment(typed(value, &mut unknown_fields)?),
        Kind::ReplicaSet => Object::ReplicaSet(typed(value, &mut unknown_fields)?),
        Kind::StatefulSet => Object::StatefulSet(typed(value, &mut unknown_fields)?),
        Kind::DaemonSet => Object::DaemonSet(typed(value, &mut unknown_fields)?),
        Kind::Job => Object::Job(typed(value, &mut unknown_fields)?),
        Kind::PodDisruptionBudget => Object::PodDisruptionBudget(typed(value, &mut unknown_fields)?),
        Kind::PriorityClass => Object::PriorityClass(typed(value, &mut unknown_fields)?),
        Kind::Queue => Object::Queue(typed(value, &mut unknown_fields)?),
        Kind::QueueJob => Object::QueueJob(typed(value, &mut unknown_fields)?),
        Kind::ResourceQuota => Object::ResourceQuota(typed(value, &mut unknown_fields)?),
        Kind::LimitRange => Object::LimitRange(typed(value, &mut unknown_fields)?),
        Kind::HorizontalPodAutoscaler => Object::HorizontalPodAutoscaler(typed(value, &mut unknown_fields)?),
        Kind::Lease => Object::Lease(typed(value, &mut unknown_fields)?),
        Kind::PodGroup => Object::PodGroup(Box::new(AnyPodGroup::read(&api_version, value)?)),
    };
    Ok(Decoded { object, unknown_fields })
}

fn typed<T: DeserializeOwned>(value: Value, unknown_fields: &mut Vec<String>) -> Result<T, String> {
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(value, &mut track);
    let read = serde_ignored::deserialize(tracked, |path| {
        let mut text = String::new();
        write_path(&path, &mut text);
        unknown_fields.push(text);
    });
    read.map_err(|error: serde_json::Error| {
        let path = track.path().to_string();
        // A dot stands for the object itself.
        if path == "." { error.to_string() } else { format!("{path}: {error}") }
    })
}

/// `spec.containers[0].resource`.
fn write_path(path: &serde_ignored::Path<'_>, text: &mut String) {
    use serde_ignored::Path;
    match path {
        Path::Root => {}
        Path::Seq { parent, index } => {
            write_path(parent, text);
            // Writing to a string cannot fail.
            let _ = write!(text, "[{index}]");
        }
        Path::Map { parent, key } => {
            write_path(parent, text);
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(key);
        }
        Path::Some { parent } | Path::NewtypeStruct { parent } | Path::NewtypeVariant { parent } => {
            write_path(parent, text);
        }
    }
}
