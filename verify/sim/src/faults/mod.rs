//! How operators are set up, what may go wrong between them and the API server, and what people do meanwhile.
//!
//! A [`Fault`] is data: which request or which event it hits, and what becomes of it. The same faults and the same seed
//! are the same execution, so a campaign enumerates them and a failure is a line of text.

mod act;
mod counted;
mod options;
mod request;
mod tamper;
mod watched;

pub use act::Act;
pub use counted::CountedFault;
pub use options::{NAMESPACE, OperatorOptions, StaleView};
pub use request::{Fault, Match, What};
pub use tamper::Tamper;
pub use watched::{Event, WatchFault, WatchMatch, WatchWhat};
