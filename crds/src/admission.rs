//! What keeps a pod waiting for which its queue has no room.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a new pod for which its queue has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Admission {
    /// The quota rejects it, and its controller retries.
    #[default]
    Quota,
    /// It is created with a scheduling gate, which Quotient removes when there is room.
    Gate,
}
