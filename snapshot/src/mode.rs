//! How far Quotient goes.

use serde::{Deserialize, Serialize};

/// How far Quotient goes in a queue, or in the whole cluster; each mode includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// Computes everything and writes no quota.
    Observe,
    /// Writes quotas and evicts no pod.
    Quota,
    /// Writes quotas and evicts pods.
    #[default]
    Full,
}

impl Mode {
    /// Every mode, the shortest way first.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Quota, Self::Full];

    /// The name in specs, flags, conditions and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observe => "Observe",
            Self::Quota => "Quota",
            Self::Full => "Full",
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}
