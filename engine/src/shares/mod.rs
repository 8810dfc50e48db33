//! Who deserves how much: weighted max-min with floors, in whole quanta (S-QUEUE §Proportion Policy).

mod deserved;
mod divide;
mod level;

pub(crate) use deserved::{Shares, shares};
pub use divide::{Claim, divide};
pub use level::{Level, fill};
