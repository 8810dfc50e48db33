//! What can happen next.

use crate::cluster::Kind;

/// One step of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// An operator's watch of a kind catches up.
    Observe(usize, Kind),
    /// An operator takes a snapshot and decides, in one of the ways that its protocol leaves open.
    Plan(usize, u8),
    /// An operator's next write is answered.
    Write(usize),
    /// The quota controller copies `spec.hard` of a queue to `status.hard`.
    Enforce(usize),
    /// An owner of a queue creates a pod that the quota admits.
    Create(usize),
    /// The scheduler binds the oldest pod of a queue that waits.
    Bind(usize),
    /// A pod of a queue that was told to leave is gone.
    Gone(usize, u8),
    /// A write that timed out lands.
    Land(usize),
    /// A write that timed out is lost.
    Lose(usize),
    /// Fault: an operator's next write times out. It may still land.
    Late(usize),
    /// Fault: an operator dies and starts again.
    Crash(usize),
    /// Fault: a running pod of a queue ends by itself.
    Die(usize, u8),
    /// Fault: a person raises the quota of a queue to the whole capacity.
    Raise(usize),
    /// Fault: a person deletes the ledger.
    Forget,
    /// The Queues state another demand.
    Demand,
}

impl Action {
    /// Whether nothing makes sure that it happens: a fault, or a person.
    pub const fn is_chance(self) -> bool {
        matches!(
            self,
            Self::Late(_) | Self::Crash(_) | Self::Die(..) | Self::Raise(_) | Self::Forget | Self::Demand
        )
    }
}
