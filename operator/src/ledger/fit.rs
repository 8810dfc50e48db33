//! What of a ledger fits into one object.

use quotient_engine::ledger::Ledger;
use quotient_engine::names::Namespace;

use super::document::{DocumentError, LeafTargets, pack};

/// A ledger that fits.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) ledger: Ledger,
    pub(super) packed: Vec<u8>,
    /// The namespaces that there was no place for.
    pub(super) left_out: usize,
}

/// What of `next` fits into `limit` bytes: a namespace with an entry in `standing` keeps it, and of the others the last by name
/// go without.
///
/// What is there already may exceed the limit, which is why it has a margin.
pub(super) fn fit(
    mut next: Ledger,
    targets: &LeafTargets,
    standing: &Ledger,
    limit: usize,
) -> Result<Fitted, DocumentError> {
    let mut left_out: usize = 0;
    loop {
        let packed = pack(&next, targets)?;
        let newcomers = next.entries.keys().filter(|namespace| !standing.entries.contains_key(*namespace));
        let newcomers: Vec<Namespace> = newcomers.cloned().collect();
        if packed.len() <= limit || newcomers.is_empty() {
            return Ok(Fitted { ledger: next, packed, left_out });
        }
        // As many as the excess is worth, were all entries alike.
        let excess = packed.len().saturating_sub(limit);
        let each = packed.len().checked_div(next.entries.len()).unwrap_or(1).max(1);
        let without = excess.checked_div(each).unwrap_or(0).saturating_add(1);
        for namespace in newcomers.iter().rev().take(without) {
            next.entries.remove(namespace);
            left_out = left_out.saturating_add(1);
        }
    }
}
