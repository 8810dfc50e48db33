//! Slots: how many pods each QueueJob of a queue may run (S-GANG).
//!
//! ```text
//!              what the queue's other pods leave
//!                            │
//!  floors of gangs that run ─┤  each wholly or not at all, by priority and age
//!  floors of gangs that wait ┤  the same; what does not fit holds nothing      ◄── refused pods of others, one by one,
//!                            │                                                     in the same order
//!  one pod at a time ────────┘  to the lowest dominant share; ties stay with what runs
//!                            │
//!                            ▼
//!                         slots ──► parallelism: lowered at once, raised into what is free
//! ```
//!
//! A floor is what a gang cannot do without: minAvailable, less what has succeeded. It is never taken for the balance's
//! sake, so that two gangs which need two thirds of the queue each run one after the other.
//!
//! The seed's preemption between jobs is nothing but the difference between two divisions: a job that arrives gets its
//! floor out of what others have above theirs, and then its part of the rest. Dividing again changes nothing.

mod bring;
mod claim;
mod division;
mod gang;
mod room;
mod surplus;

pub(crate) use bring::bring;
pub use claim::{CompetingPods, GangClaim, GangSlots, SlotRoom, TaskClaim};
pub use division::divide;
pub(crate) use division::fits_alone;
