//! The commands, one module each.

pub(crate) mod simulate;
pub(crate) mod snapshot;
pub(crate) mod status;
