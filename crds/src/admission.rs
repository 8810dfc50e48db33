//! What keeps a pod waiting for which its queue has no room.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a new pod without room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Admission {
    /// The quota rejects it.
    #[default]
    Quota,
    /// It waits gated.
    Gate,
}
