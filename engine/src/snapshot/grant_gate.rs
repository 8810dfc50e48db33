//! Whether quotas may rise at all.

/// Whether quotas may rise into what is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrantGate {
    /// They may.
    #[default]
    Allowed,
    /// They may not: the ledger was lost, so what writes on their way may put in force is not known.
    Held,
}
