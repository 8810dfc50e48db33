//! Operators: the real one, on a link to the API server that may fail.
//!
//! ```text
//!  quotient_operator::run ──► kube::Client ──► SimClient ──► OperatorLink ──► Server
//!      (one life)                           (one life)  (all lives: faults, pauses, the clock's error)
//! ```
//!
//! A crash drops everything that a life has: its tasks, its memory, its connections. What was sent and delayed on the
//! way still arrives. The next life begins after a while with a name of its own, as a new process does.

mod client;
mod cluster;
mod life;
mod link;
mod tamper;
mod watch;

pub use cluster::SimCluster;
pub use link::{Exit, OperatorLink};
