//! Where a queue's demand comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How it is known what a queue asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DemandMode {
    /// Its spec says it.
    #[default]
    Declared,
    /// Its pods and their owners show it.
    Observed,
}
