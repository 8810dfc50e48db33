//! What cannot start now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most entries of `status.unmet` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_UNMET: usize = 8;

/// Pods of one owner, or one pod, that cannot start now, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmet {
    /// What is waiting, by kind and name, such as "ReplicaSet web" or "Pod x".
    pub what: String,
    /// How many pods of it are waiting.
    #[schemars(range(min = 0))]
    pub pods: i32,
    /// Why they are waiting, in one CamelCase word for programs.
    pub reason: String,
    /// Why they are waiting, in a sentence for people.
    pub message: String,
}
