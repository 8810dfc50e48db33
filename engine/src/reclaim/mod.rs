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
mod fixed_point;
mod gangs;
mod guarantees;
mod keeping;
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

pub(crate) use asks::unbound;
pub(crate) use budgets::Budgets;
pub(crate) use candidate::Candidate;
pub(crate) use candidates::{immunity, is_protected, never_taken, next_unprotected, replicas};
pub(crate) use fixed_point::evictions;
pub(crate) use keeping::Keeping;
pub(crate) use nodes::{At, Resident, Rooms, Score};
pub(crate) use order::rank;
pub(crate) use outcome::Taken;
pub(crate) use party::Party;
pub(crate) use select::select;
