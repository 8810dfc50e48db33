//! From JSON to typed objects, and the fields that no type knows or that cannot be read.

use quotient_engine::time::Timestamp;
use quotient_index::Decoded;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads `value`. The error names the field, which only the decoder of texts knows.
pub(crate) fn decode<T: DeserializeOwned + 'static>(value: &Value) -> Result<T, String> {
    if let Some(object) = decoded(value) {
        return Ok(object);
    }
    let read: Result<Decoded<T>, _> = serde_json::from_str(&value.to_string());
    read.map_err(|error| error.to_string())?.0.map_err(|undecodable| undecodable.error)
}

/// The same where only the object matters.
pub(crate) fn decoded<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// The paths of the fields of `value` that are not in the `object` that was read of it.
pub(super) fn unknown_fields(value: &Value, object: &impl Serialize) -> Vec<String> {
    let mut unknown = Vec::new();
    add_unknown(value, &serde_json::to_value(object).unwrap_or_default(), "", &mut unknown);
    unknown
}

fn add_unknown(value: &Value, known: &Value, path: &str, unknown: &mut Vec<String>) {
    match (value, known) {
        (Value::Object(fields), Value::Object(known)) => {
            for (name, field) in fields.iter().filter(|(_, field)| !field.is_null()) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match known.get(name) {
                    Some(known) => add_unknown(field, known, &path, unknown),
                    None => unknown.push(path),
                }
            }
        }
        (Value::Array(items), Value::Array(known)) => {
            for (at, (item, known)) in items.iter().zip(known).enumerate() {
                add_unknown(item, known, &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

/// The text at a pointer, if there is one.
pub(crate) fn find_text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The text at a pointer; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    find_text(value, pointer).unwrap_or_default()
}

/// A time as RFC 3339 has it.
pub(crate) fn time(text: &str) -> Result<Timestamp, jiff::Error> {
    text.parse::<jiff::Timestamp>().map(|time| Timestamp::from_millis(time.as_millisecond()))
}

/// A value as it stands in YAML: a text without quotes.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_are_listed_and_wrong_ones_named() {
        let pod =
            |container: Value| json!({"kind": "Pod", "spec": {"containers": [{"name": "a"}, container]}});
        let unknown = pod(json!({"name": "b", "resource": {"x": 1}, "ports": null}));
        let read = decode::<Pod>(&unknown).unwrap();
        assert_eq!(unknown_fields(&unknown, &read), ["spec.containers[1].resource"]);
        let error = decode::<Pod>(&pod(json!({"name": "b", "ports": 80}))).unwrap_err();
        assert_eq!(error, "spec.containers[1].ports: invalid type: integer `80`, expected a sequence");
        assert!(decode::<Pod>(&json!(7)).unwrap_err().starts_with("invalid type: integer `7`"));
    }
}
