//! The smallest merge patch between two statuses.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::executor::{Life, Request};

/// The request that turns the `stored` status into `wanted`; none if it says it all. A status that is missing or cannot be
/// decoded is replaced: a merge would keep what cannot be decoded. For that the object has to be as it was `seen`, so that no
/// status is replaced that a former leader has written meanwhile.
pub(super) fn status_patch<S: Serialize>(
    seen: Life,
    stored: Option<&S>,
    wanted: &S,
) -> Option<(Option<Life>, Request)> {
    let stored = stored.map(serde_json::to_value).transpose();
    match stored.and_then(|stored| Ok((stored, serde_json::to_value(wanted)?))) {
        Ok((Some(stored), wanted)) => Some((None, Request::MergeStatus(merge_patch(&stored, &wanted)?))),
        Ok((None, wanted)) => Some((Some(seen), Request::ReplaceStatus(wanted))),
        Err(error) => Some((None, Request::Impossible(error.to_string()))),
    }
}

/// What a JSON merge patch (RFC 7386) has to say to turn `old` into `new`; none if nothing.
///
/// What `new` lacks is set to null: that is how a merge patch takes a resource out of a map. Lists are replaced
/// as a whole.
fn merge_patch(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let mut patch = Map::new();
    for (key, value) in new {
        match old.get(key) {
            Some(former) => {
                if let Some(change) = merge_patch(former, value) {
                    patch.insert(key.clone(), change);
                }
            }
            None => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_changed_is_said() {
        let old = json!({"deserved": {"cpu": "3"}, "preempting": {"cpu": "1"}, "pods": {"running": 1, "pending": 0}});
        let new = json!({"deserved": {"cpu": "3"}, "preempting": {}, "pods": {"running": 2, "pending": 0}});
        let patch = merge_patch(&old, &new).unwrap();
        assert_eq!(patch, json!({"preempting": {"cpu": null}, "pods": {"running": 2}}));
    }

    #[test]
    fn equal_needs_nothing() {
        let status = json!({"deserved": {"cpu": "3"}, "conditions": [{"type": "Ready"}]});
        assert_eq!(merge_patch(&status, &status), None);
    }

    #[test]
    fn what_is_gone_is_nulled_and_what_is_new_is_whole() {
        let patch = merge_patch(&json!({"used": {"cpu": "1"}}), &json!({"conditions": [{"type": "Ready"}]}));
        assert_eq!(patch, Some(json!({"used": null, "conditions": [{"type": "Ready"}]})));
    }

    #[test]
    fn what_is_missing_or_cannot_be_decoded_is_replaced() {
        let (life, request) = status_patch(Life::of("u"), None, &json!({"pods": {}})).unwrap();
        assert_eq!(life, Some(Life::of("u")));
        assert!(matches!(request, Request::ReplaceStatus(status) if status == json!({"pods": {}})));
    }

    #[test]
    fn lists_are_replaced() {
        let patch = merge_patch(&json!({"conditions": [1, 2]}), &json!({"conditions": [1, 3]}));
        assert_eq!(patch, Some(json!({"conditions": [1, 3]})));
    }
}
