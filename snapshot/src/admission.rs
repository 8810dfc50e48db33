//! What keeps a pod waiting for which its queue has no room.

use std::num::NonZeroU8;

use serde::{Deserialize, Serialize};

/// What happens to a new pod for which its queue has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Admission {
    /// The quota rejects it.
    #[default]
    Quota,
    /// It is created with a scheduling gate, which Quotient removes when there is room.
    Gate,
    /// The spec says `Gate`, and nothing gates pods in this cluster: the quota rejects it.
    GateNotServed,
}

/// The place of the gate `quotient.dev/share` in the list of a pod's scheduling gates, from 0.
///
/// A patch removes an entry of a list by its place. There are a hundred thousand pods, so it takes one byte, and a pod without a
/// gate takes no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GatePosition(NonZeroU8);

impl GatePosition {
    /// This place; none for one behind so many gates that it cannot be counted.
    pub fn new(position: usize) -> Option<Self> {
        let next = u8::try_from(position.checked_add(1)?).ok()?;
        NonZeroU8::new(next).map(Self)
    }

    /// Its number, from 0.
    pub const fn number(self) -> u8 {
        self.0.get().saturating_sub(1)
    }
}

/// The first place.
impl Default for GatePosition {
    fn default() -> Self {
        Self(NonZeroU8::MIN)
    }
}
