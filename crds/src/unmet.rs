//! What cannot start now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most entries of `status.unmet` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_UNMET: usize = 8;

/// Pods of one workload, or one pod, that cannot start now, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmet {
    /// The kind of the workload, such as `ReplicaSet` or `Job`; `Pod` for a pod without one.
    pub kind: String,
    /// Its name in the namespace of the queue.
    pub name: String,
    /// The number of its pods that cannot start.
    #[schemars(range(min = 0))]
    pub pods: i32,
    /// Why they cannot start, in one CamelCase word for programs.
    pub reason: String,
    /// Why they cannot start and what would help, in a sentence.
    pub message: String,
}
