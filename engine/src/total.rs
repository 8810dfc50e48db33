//! Sums of amounts.

use std::borrow::Borrow;

use crate::amounts::Amounts;

/// What `all` come to together.
pub(crate) fn total<A: Borrow<Amounts>>(all: impl IntoIterator<Item = A>) -> Amounts {
    let mut total = Amounts::new();
    all.into_iter().for_each(|amounts| total.add_all(amounts.borrow()));
    total
}
