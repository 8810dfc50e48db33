//! Texts in objects that have no type.

use quotient_engine::time::Timestamp;
use serde_json::Value;

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
