//! Which pods have to go so that everybody gets what they deserve.
//!
//! ```text
//! scopes: who may take from whom    need: how much, of what      sources: from whom      victims: which pods
//! inner fences, limits, cluster ──► promised + held − bound ──► most over its share ──► least protected, fewest
//! ```

mod balance;
mod candidate;
mod candidates;
mod fewest_of_many;
mod fewest_of_one;
mod order;
mod party;
mod scope;
mod select;
mod sources;
mod take;

pub(crate) use candidates::never_taken;
pub(crate) use party::Party;
pub(crate) use take::{Taken, evictions};
