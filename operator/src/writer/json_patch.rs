//! Patches as a list of operations.

use kube::api::Patch;
use serde_json::Value;

/// Operations are written as JSON. The types of the crate `json-patch`, which kube takes, need more lines to say the same.
pub(super) fn json_patch(operations: Vec<Value>) -> Result<Patch<()>, serde_json::Error> {
    Ok(Patch::Json(serde_json::from_value(Value::Array(operations))?))
}
