//! How far Quotient goes in a queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far Quotient goes in a queue; each mode includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mode {
    /// Quotient computes and reports everything, and writes no quota.
    Observe,
    /// Quotient also writes the quota, and evicts no pod.
    Quota,
    /// Quotient also evicts pods.
    #[default]
    Full,
}
