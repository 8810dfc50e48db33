//! What is remembered of ResourceQuotas as a kind.

use std::collections::BTreeSet;

use quotient_engine::names::Namespace;

use crate::resource_version::Age;

/// What is remembered of quotas as a kind.
#[derive(Debug, Default)]
pub(crate) struct QuotaKind {
    /// The quotas that were newer than every pod when they were seen, by age.
    pub(crate) ahead: BTreeSet<(Age, Namespace)>,
    /// How often the quota controller was seen to change what a quota of ours enforces.
    pub(crate) enforced: u64,
}
