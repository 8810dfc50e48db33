//! Reading amounts and texts from objects. What cannot be read is not there: writes are checked, not manifests.

use serde_json::Value;

use crate::amounts::{self, Amount, Resource};

/// The text at a JSON pointer.
pub(super) fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}

/// The elements of the list at a JSON pointer.
pub(super) fn list<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + Clone {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// A time in milliseconds since 1970.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    text.parse().ok().map(jiff::Timestamp::as_millisecond)
}

/// Whether something other than null stands at a JSON pointer.
pub(super) fn has(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).is_some_and(|value| !value.is_null())
}

/// The amounts of a map of quantities, zero included.
pub(super) fn stated(object: &Value, pointer: &str) -> impl Iterator<Item = (Resource, Amount)> {
    amounts::amounts(object.pointer(pointer).unwrap_or(&Value::Null))
}
