//! Typed objects: the kinds that decisions depend on, and the decoder that reads them.

mod api_kind;
mod decode;
mod disruption;
mod kind;
mod pod_group;
mod said;

pub(crate) use api_kind::ApiKind;
pub(crate) use decode::{decode, decoded, find_text, plain, text, time};
pub(crate) use disruption::{Bound, Share};
pub(crate) use kind::{Kind, Object};
pub(crate) use pod_group::POD_GROUPS;
pub(crate) use said::{DEMANDED, ignores_evictions, is_ours, lacks_requests};
