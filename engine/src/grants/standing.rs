//! Grants while nothing may be taken, from any queue or from some.

use super::Holder;
use crate::amounts::{Amounts, Resource};
use crate::tree::{Index, Tree};

/// `granted`, and of every leaf that `keeps` at least what its quota allows already, or what is charged where it has none.
///
/// Nobody else is given anything for it: what stands is part of every hold anyway.
pub(crate) fn nothing_lowered(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    granted: &[Amounts],
    resources: &[Resource],
    keeps: impl Fn(Index) -> bool,
) -> Vec<Amounts> {
    let of_leaf = |(at, granted): (Index, &Amounts)| {
        let Some(holder) = holders.get(at).copied().flatten() else { return Amounts::new() };
        if !keeps(at) {
            return granted.clone();
        }
        let most =
            |resource: &Resource| (resource.clone(), granted.get(resource).max(holder.allocated(resource)));
        resources.iter().map(most).collect()
    };
    tree.sums(granted.iter().enumerate().map(of_leaf).collect())
}
