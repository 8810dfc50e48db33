//! What containers request that do not say it: the LimitRange `quotient`, and the defaults of others.
//!
//! No decision about shares depends on it. What is to be written follows from what is kept here alone, and which owners
//! have templates that a quota refuses.

mod due;
mod listed;
mod observed;

pub use due::LimitRangeDue;
pub(crate) use listed::LimitRangeKind;
pub(crate) use observed::ObservedLimitRange;
