//! Which pods have to go so that everybody gets what they deserve.
//!
//! ```text
//! need: how much, of what      sources: from whom         victims: which pods
//! Σ promised + Σ held − C  ──► most over its share  ──►  least protected, fewest, newest
//! ```

mod candidates;
mod fewest_of_many;
mod fewest_of_one;
mod need;
mod order;
mod select;

pub(crate) use need::{Party, evictions};
