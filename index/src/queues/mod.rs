//! Queues: what administrators wrote, read for the engine, and what the operator wrote about it.

mod decode;
pub(crate) mod default_requests;
mod mistakes;
mod observed;
mod remembered;
mod rules;

pub use decode::{decode, undecodable};
pub use observed::ObservedQueue;
