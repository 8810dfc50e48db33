//! Which objects a running list has not shown yet.

use std::collections::BTreeSet;

/// The keys that were kept when a list began and that it has not contained so far.
///
/// Holding what is missing, rather than a mark on every entry, costs memory only while a list runs, and a
/// typed list is never buffered.
#[derive(Debug)]
pub(crate) struct Relist<K>(Option<BTreeSet<K>>);

impl<K: Ord> Relist<K> {
    /// No list runs.
    pub(crate) const fn idle() -> Self {
        Self(None)
    }

    /// A list begins while these keys are kept.
    pub(crate) fn begin(&mut self, kept: impl Iterator<Item = K>) {
        self.0 = Some(kept.collect());
    }

    /// The list, if one runs, contained `key`.
    pub(crate) fn seen(&mut self, key: &K) {
        if let Some(missing) = &mut self.0 {
            missing.remove(key);
        }
    }

    /// The list ends: the keys that it did not contain.
    pub(crate) fn finish(&mut self) -> BTreeSet<K> {
        self.0.take().unwrap_or_default()
    }
}
