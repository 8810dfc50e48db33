//! Typed objects: the kinds that decisions depend on, and the decoder that reads them.

mod decode;
mod disruption;
mod kind;
mod pod_group;
mod workloads;

pub(crate) use decode::decoded;
pub(crate) use disruption::{Bound, Share};
pub(crate) use kind::{Kind, Object};
pub(crate) use workloads::{DEMANDED, ignores_evictions, lacks_requests};
