//! Which pods have to go so that everybody gets what they deserve.
//!
//! ```text
//! scopes: who may take from whom    need: how much, of what      sources: from whom      victims: which pods
//! inner fences, limits, cluster ──► promised + held − bound ──► most over its share ──► least protected, fewest
//! ```

mod asks;
mod balance;
mod books;
mod budgets;
mod candidate;
mod candidates;
mod fewest_of_many;
mod fewest_of_one;
mod gangs;
mod guarantees;
mod make_way;
mod nodes;
mod order;
mod outcome;
mod party;
mod placing;
mod release;
mod scope;
mod select;
mod sources;
mod take;
mod victim;

pub(crate) use candidates::never_taken;
pub(crate) use outcome::Taken;
pub(crate) use party::Party;
pub(crate) use take::evictions;
