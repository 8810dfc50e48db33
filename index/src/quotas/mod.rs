//! The ResourceQuota `quotient` of every namespace, and what all others bound.
//!
//! What was observed and what was written and not seen yet are kept apart, so that neither a stale watch event
//! nor a lost reply makes the quota look lower than admission may find it.

mod entry;
mod foreign;
mod hard;
mod kind;
mod observed;

pub(crate) use entry::QuotaEntry;
pub(crate) use foreign::{ForeignQuota, lowest};
pub use hard::{bounds_from_hard, hard_from_bounds, unreadable};
pub(crate) use kind::QuotaKind;
pub use observed::{ObservedQuota, QuotaUid};
