//! Who leads: one replica holds a Lease, the others wait for it to lapse.
//!
//! The Lease is a courtesy, not a fence: a paused process can believe in it for longer than the others do. What
//! keeps a late writer from harm is in the writes themselves (a version on the ledger, a uid on every eviction, a stamp on
//! every quota). So the rules are those of client-go, and nothing cleverer:
//!
//! - every write carries the resourceVersion it was decided on, so of two candidates one gets a 409;
//! - a Lease has lapsed when *this* process has not seen it change for its duration; the holder's clock is not
//!   read;
//! - a leader that cannot renew before the deadline stops being one, and the process ends.

mod elector;
mod evaluate;
mod leadership;
mod moment;
mod record;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use elector::{Elector, LeaseError};
pub use leadership::Leadership;

/// How the leader is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseSettings {
    /// The Lease's namespace.
    pub namespace: String,
    /// The Lease's name.
    pub name: String,
    /// How long a Lease that is not renewed keeps others out.
    pub duration: Duration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: Duration,
    /// How often the leader renews and the others look.
    pub retry: Duration,
}
