//! The ResourceQuota `quotient` of every namespace, and what all others bound.
//!
//! What was observed is kept as it is; what was granted is in the ledger. Snapshots show both at once, so that neither a
//! stale watch event nor a lost reply makes a quota look lower than admission may find it.

mod hard;
mod observed;

pub(crate) use hard::{ForeignQuota, lowest};
pub use hard::{bounds_from_hard, hard_from_bounds, is_scoped, unreadable};
pub(crate) use observed::QuotaKind;
pub use observed::{ObservedQuota, QuotaUid};
