//! JSON merge patches (RFC 7386).

use serde_json::{Map, Value};

/// Makes `object` what `patch` says: members that are null go, objects are merged, everything else is replaced.
pub(super) fn apply(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(members) = object else { return };
    for (name, value) in patch {
        if value.is_null() {
            members.remove(name);
        } else {
            apply(members.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}
