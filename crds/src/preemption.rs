//! Preemption inside a queue, by priority.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether workloads of a queue yield to workloads of the same queue that have a higher priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preemption {
    /// They do not.
    #[default]
    Never,
    /// Workloads of a strictly lower priority are scaled down.
    LowerPriority,
}
