//! From a plan to the statuses that users read.
//!
//! Pure: plan and former status in, new status out. When it is written is decided by [`pace`], what is sent by
//! [`patch`]; both are pure, too. The task that does it is [`writer::statuses`](crate::writer).

mod compose;
mod conditions;
pub mod pace;
pub mod patch;
mod reclaims;
mod remembered;
mod state;
#[cfg(test)]
mod tests;
mod unmet;
mod withheld;

pub use compose::{Overview, compose};
pub use conditions::{Circumstances, QuotaState};
pub use reclaims::RecentReclaims;
pub(crate) use unmet::obstacle;
