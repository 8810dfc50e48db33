//! Which objects a running list has not shown yet.

use std::collections::BTreeSet;

/// The keys that were kept when a list began and that it has not contained so far.
///
/// Holding what is missing, rather than a mark on every entry, costs memory only while a list runs, and a
/// typed list is never buffered.
#[derive(Debug)]
pub(crate) struct Relist<K> {
    missing: Option<BTreeSet<K>>,
    /// How many were kept when the list began.
    kept: usize,
}

/// How much of what was kept a list has not contained so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListLoss {
    /// How many objects it has not contained.
    pub missing: usize,
    /// How many were kept when it began.
    pub kept: usize,
}

impl<K: Ord> Relist<K> {
    /// No list runs.
    pub(crate) const fn idle() -> Self {
        Self { missing: None, kept: 0 }
    }

    /// A list begins while these keys are kept.
    pub(crate) fn begin(&mut self, kept: impl Iterator<Item = K>) {
        let kept: BTreeSet<K> = kept.collect();
        self.kept = kept.len();
        self.missing = Some(kept);
    }

    /// The list, if one runs, contained `key`.
    pub(crate) fn seen(&mut self, key: &K) {
        if let Some(missing) = &mut self.missing {
            missing.remove(key);
        }
    }

    /// What the running list has not contained so far; nothing if none runs.
    pub(crate) fn loss(&self) -> ListLoss {
        self.missing
            .as_ref()
            .map(|missing| ListLoss { missing: missing.len(), kept: self.kept })
            .unwrap_or_default()
    }

    /// The list ends: the keys that it did not contain.
    pub(crate) fn finish(&mut self) -> BTreeSet<K> {
        self.missing.take().unwrap_or_default()
    }
}
