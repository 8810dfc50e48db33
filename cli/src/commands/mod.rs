//! The commands, one module each.

pub(crate) mod check;
pub(crate) mod completion;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod leaving;
pub(crate) mod migrate;
pub(crate) mod pause;
pub(crate) mod propose;
pub(crate) mod replay;
pub(crate) mod simulate;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod top;
pub(crate) mod version;
