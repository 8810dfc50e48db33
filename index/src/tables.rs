//! What is remembered of the lists and the deletions of each kind.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::meta::{Age, Key};

/// How much of what was kept a list has not contained so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListLoss {
    /// How many objects it has not contained.
    pub missing: usize,
    /// How many were kept when it began.
    pub kept: usize,
}

/// What is remembered of the objects of one kind as a whole.
///
/// Holding what a list lacks, rather than a mark on every entry, costs memory only while a list runs, and a typed list is never
/// buffered.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The keys that were kept or skipped when the running list began and that it has not contained so far; none if no list runs.
    missing: Option<BTreeSet<Key>>,
    /// How many objects were kept when it began.
    kept: usize,
    /// The newest object that it has contained so far.
    pub(crate) newest: Age,
    pub(crate) deleted: Tombstones,
}

impl Table {
    /// A list begins while these keys are kept, and the `skipped` ones are those of objects that cannot be decoded.
    pub(crate) fn begin(&mut self, mut kept: BTreeSet<Key>, skipped: Vec<Key>) {
        self.kept = kept.len();
        self.newest = Age::default();
        kept.extend(skipped);
        self.missing = Some(kept);
    }

    /// Whether a list runs.
    pub(crate) const fn is_listing(&self) -> bool {
        self.missing.is_some()
    }

    /// The list, if one runs, contained `key`, or it need not.
    pub(crate) fn seen(&mut self, key: &Key) {
        if let Some(missing) = &mut self.missing {
            missing.remove(key);
        }
    }

    /// Notes an object of this age. Returns up to which age every change was delivered; none during a list, which is sorted by
    /// name, until its end.
    pub(crate) fn advance(&mut self, age: Age) -> Option<Age> {
        if self.missing.is_none() {
            return Some(age);
        }
        self.newest = self.newest.max(age);
        None
    }

    /// The list ends: the keys that it did not contain.
    pub(crate) fn finish(&mut self) -> BTreeSet<Key> {
        self.missing.take().unwrap_or_default()
    }

    /// What the running list has not contained so far of the objects of which `is_kept` says that they are kept.
    pub(crate) fn loss(&self, is_kept: impl Fn(&&Key) -> bool) -> ListLoss {
        let missing = self.missing.iter().flatten().filter(is_kept);
        ListLoss { missing: missing.count(), kept: self.kept }
    }
}

/// How many deletions are remembered: far more than writes can be in flight.
const REMEMBERED: usize = 1024;

/// The uids of the most recently deleted objects of one kind.
///
/// The reply to a write may be applied after the watch has shown the deletion of the object. A uid never comes
/// back, so such a late reply is recognized by it; without this it would leave an entry that nothing removes.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    uids: BTreeSet<Arc<str>>,
    oldest_first: VecDeque<Arc<str>>,
}

impl Tombstones {
    /// The object with this uid was deleted.
    pub(crate) fn insert(&mut self, uid: &str) {
        let uid: Arc<str> = uid.into();
        if !self.uids.insert(uid.clone()) {
            return;
        }
        self.oldest_first.push_back(uid);
        if self.oldest_first.len() > REMEMBERED
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.uids.remove(&oldest);
        }
    }

    /// Whether the object with this uid was deleted.
    pub(crate) fn contains(&self, uid: &str) -> bool {
        self.uids.contains(uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_deletions_are_forgotten() {
        let mut tombstones = Tombstones::default();
        for number in 0..=REMEMBERED {
            tombstones.insert(&number.to_string());
            tombstones.insert(&number.to_string());
        }
        assert!(!tombstones.contains("0"));
        assert!(tombstones.contains("1"));
        assert!(tombstones.contains(&REMEMBERED.to_string()));
        assert_eq!(tombstones.uids.len(), REMEMBERED);
    }
}
