//! What may go wrong between an operator and the API server, and what people do meanwhile.
//!
//! A [`Fault`] is data: which request or which event it hits, and what becomes of it. The same faults and the same seed
//! are the same execution, so a campaign enumerates them and a failure is a line of text.

mod act;
mod request;
mod watched;

pub use act::Act;
pub use request::{Fault, Match, What};
pub use watched::{Event, WatchFault, WatchMatch, WatchWhat};
