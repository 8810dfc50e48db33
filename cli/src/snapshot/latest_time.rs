//! The latest timestamp of an object.

use quotient_engine::time::Timestamp;
use serde_json::Value;

use crate::objects::time;

/// The latest time that stands in the object's metadata or status.
///
/// Only fields named as Kubernetes names times count (`…Timestamp`, `…Time`, `…At`, `time`), and none in spec:
/// a date among a container's arguments is not a time at which something happened.
pub(super) fn latest_time(object: &Value) -> Option<Timestamp> {
    ["metadata", "status"].into_iter().filter_map(|part| latest_in(object.get(part)?)).max()
}

fn latest_in(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Object(fields) => fields
            .iter()
            // Annotations and labels hold anything.
            .filter(|(name, _)| !matches!(name.as_str(), "annotations" | "labels"))
            .filter_map(|(name, value)| match value {
                Value::String(text) if is_time(name) => time(text).ok(),
                _ => latest_in(value),
            })
            .max(),
        Value::Array(values) => values.iter().filter_map(latest_in).max(),
        _ => None,
    }
}

fn is_time(field: &str) -> bool {
    field == "time" || ["Timestamp", "Time", "At"].iter().any(|ending| field.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    }
}
