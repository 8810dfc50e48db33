//! Objects that are known to be deleted for good.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// How many deletions are remembered: far more than writes can be in flight.
const REMEMBERED: usize = 1024;

/// The uids of the most recently deleted objects of one kind.
///
/// The reply to a write may be applied after the watch has shown the deletion of the object. A uid never comes
/// back, so such a late reply is recognised by it; without this it would leave an entry that nothing removes.
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
