//! The promises, a file each kind.

mod changes;
pub(crate) mod eviction;
pub(crate) mod gate;
pub(crate) mod gated;
pub(crate) mod grant;
pub(crate) mod ledger;
pub(crate) mod own;
pub(crate) mod progress;
pub(crate) mod rest;
pub(crate) mod restraint;

pub(crate) use changes::Changes;
pub(crate) use gate::UnderWay;
pub(crate) use progress::Progress;
