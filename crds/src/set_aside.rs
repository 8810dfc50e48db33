//! Workloads that had room and did not start.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most entries of `status.setAside` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_SET_ASIDE: usize = 64;

/// A workload, or a pod without one, that had room and did not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetAside {
    /// The kind of the object, such as Deployment; Pod for a pod without a controller.
    pub kind: String,
    /// The name of the object.
    pub name: String,
    /// The metadata.uid of the object.
    pub uid: String,
    /// A number that changes with the spec of the object.
    #[serde(default)]
    pub revision: i64,
    /// Since when it has been set aside.
    pub since: Time,
    /// How many times it was set aside in a row. 0 once a pod of it has become Ready.
    #[serde(default)]
    pub times: i32,
    /// How many nodes counted then.
    #[serde(default)]
    pub nodes: i32,
    /// Whether no node had room for it then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lacked_room: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}
