//! Operators: the real one, on a line to the API server that may fail.
//!
//! ```text
//!  quotient_operator::run ──► kube::Client ──► Port ──► Line ──► Server
//!      (one life)                           (one life)  (all lives: faults, pauses, the clock's error)
//! ```
//!
//! A crash drops everything that a life has: its tasks, its memory, its connections. What was sent and delayed on the
//! way still arrives. The next life begins after a while with a name of its own, as a new process does.

mod content;
mod life;
mod line;
mod options;
mod port;
mod stage;
mod tamper;
mod watch;

pub use life::Exit;
pub use line::Line;
pub use options::{NAMESPACE, OperatorOptions, StaleView};
pub use stage::Stage;
pub use tamper::Tamper;
