//! Typed objects: the kinds that decisions depend on, and the decoder that reads them.

mod decode;
mod kind;
mod said;

pub(crate) use decode::{decoded, find_text, plain, text, time};
pub(crate) use kind::{ApiKind, Kind, Object, POD_GROUP_KINDS, in_words, later_version};
pub(crate) use said::{
    Bound, PART_OF, Share, VARIABLES, goes_with_queue, ignores_evictions, is_operator, is_ours,
};
