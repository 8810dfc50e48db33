//! Who deserves how much: weighted max-min with floors, in whole quanta (S-QUEUE §Proportion Policy).

mod contest;
mod deserved;
mod divide;
mod fair;
mod level;

pub(crate) use deserved::{Shares, Wish, shares};
pub use divide::{Claim, divide};
pub use level::{Level, fill};
