//! Autoscalers (HPA): whose size they keep.

use std::sync::Arc;

use crate::meta::Meta;

/// What is kept of one autoscaler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Autoscaler {
    pub(crate) meta: Meta,
    /// The kind and the name of what it scales.
    pub(crate) target: (Arc<str>, Arc<str>),
}
