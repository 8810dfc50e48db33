//! Whether quotas may rise at all.

use serde::{Deserialize, Serialize};

/// Whether quotas may rise into what is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrantGate {
    /// They may.
    #[default]
    Allowed,
    /// They may not: the ledger was lost, so what writes on their way may put in force is not known.
    Held,
}
