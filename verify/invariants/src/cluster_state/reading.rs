//! Reading amounts and texts from objects. What cannot be read is not there: the judge judges writes, not manifests.

use serde_json::Value;

use crate::amounts::{Amount, Amounts, Bounds, Resource};

/// The text at a JSON pointer.
pub(super) fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}

/// A time in milliseconds since 1970.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    text.parse().ok().map(jiff::Timestamp::as_millisecond)
}

/// Whether something other than null stands at a JSON pointer.
pub(super) fn has(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).is_some_and(|value| !value.is_null())
}

/// The amounts of a map of quantities; `requests.cpu` is cpu.
pub(super) fn amounts(object: &Value, pointer: &str) -> Amounts {
    pairs(object, pointer).collect()
}

/// The same, with what is not named left open.
pub(super) fn bounds(object: &Value, pointer: &str) -> Bounds {
    pairs(object, pointer).collect()
}

fn pairs(object: &Value, pointer: &str) -> impl Iterator<Item = (Resource, Amount)> {
    let map = object.pointer(pointer).and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(name, quantity)| {
        let name = name.strip_prefix("requests.").unwrap_or(name);
        let text = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
        Some((Resource::named(name), Amount::from_text(&text)?))
    })
}
