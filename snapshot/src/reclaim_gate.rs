//! Whether quotas may shrink and pods may be evicted.

use serde::{Deserialize, Serialize};

use crate::reasons::ShortReason;

/// Whether what is seen can be trusted enough to take something away because of it.
///
/// While it is held, no plan lowers a quota, removes one or lets a pod go; what grows into free room still grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReclaimGate {
    /// It is.
    #[default]
    Allowed,
    /// It is, but for evictions that a lowered quota has to follow up: no quota has been seen to take effect lately, and why.
    EvictionsWait(ShortReason),
    /// It is not, and why; queues that are starved because of that say so.
    Held(ShortReason),
}

impl ReclaimGate {
    /// Why nothing may be taken, if so.
    pub const fn held(self) -> Option<ShortReason> {
        match self {
            Self::Allowed | Self::EvictionsWait(_) => None,
            Self::Held(reason) => Some(reason),
        }
    }

    /// Why evictions wait although quotas shrink, if so.
    pub const fn evictions_wait(self) -> Option<ShortReason> {
        match self {
            Self::EvictionsWait(reason) => Some(reason),
            Self::Allowed | Self::Held(_) => None,
        }
    }
}
