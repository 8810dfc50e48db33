//! Demand that does not count, because nothing came of it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most entries of `status.notTakenUp` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_NOT_TAKEN_UP: usize = 64;

/// An owner, or a pod without one, of whose demand nothing has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotTakenUp {
    /// The kind of the object: ReplicaSet, StatefulSet or Job, or Pod for a pod without an owner.
    pub kind: String,
    /// The name of the object, which is in the namespace of the queue.
    pub name: String,
    /// The metadata.uid of the object. Another object of the same name counts.
    pub uid: String,
    /// The metadata.generation that the object had then; 0 if it has none. Once its spec is changed it has another
    /// one, and counts again.
    #[serde(default)]
    pub generation: i64,
    /// Since when its demand has not counted.
    pub since: Time,
    /// Whether its demand counts all the same. Since that time there has been room for pods of it, and they were not
    /// created: see the entry of unmet with the reason `PodsNotCreated`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub not_created: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}
