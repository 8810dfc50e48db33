//! Queues: what administrators wrote, read for the engine, and what the operator wrote about it.

mod decode;
mod kind;
mod observed;

pub use decode::{decode, undecodable};
pub(crate) use kind::QueueKind;
pub use observed::ObservedQueue;
