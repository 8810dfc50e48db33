//! Deserved shares: weighted max-min with floors, in whole quanta (S-QUEUE §Proportion Policy).

mod deserved;
mod divide;
mod fraction;
mod level;
mod pour;
mod turns;

pub(crate) use deserved::{Shares, Wish, shares};
pub use divide::{Claim, divide};
pub(crate) use fraction::Fraction;
pub(crate) use level::{Level, fill, rounded_down};
pub(crate) use pour::{WaterFilling, sums, sums_within};
pub(crate) use turns::in_turns;
