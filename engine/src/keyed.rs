//! Hash maps for keys that tenants choose, such as names of gangs and uids in owner references.
//!
//! Their hashes have random keys, so no tenant can prepare texts that all fall into one bucket and make a plan quadratic. The
//! order of these maps is random as well: they are only looked up, or collected into a set. Addresses, and the uids that the API
//! server gives to pods, stay in maps of `rustc_hash`, which is faster.

use std::hash::Hash;

pub(crate) use foldhash::{HashMap as KeyedMap, HashSet as KeyedSet};

/// How often each of `keys` comes.
pub(crate) fn counts<Key: Eq + Hash>(keys: impl IntoIterator<Item = Key>) -> KeyedMap<Key, u32> {
    let mut counts = KeyedMap::default();
    let mut keys = keys.into_iter().peekable();
    while let Some(key) = keys.next() {
        // Alike ones stand together as a rule, and are compared sooner than looked up.
        let mut together = 1u32;
        while keys.next_if_eq(&key).is_some() {
            together = together.saturating_add(1);
        }
        let count: &mut u32 = counts.entry(key).or_default();
        *count = count.saturating_add(together);
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    /// The hashes of one map, or of one process, tell nothing of another.
    #[test]
    fn every_map_has_keys_of_its_own() {
        let hash = || KeyedSet::<&str>::default().hasher().hash_one("gang-1");
        let hashes: std::collections::BTreeSet<u64> = (0..8).map(|_| hash()).collect();
        assert!(hashes.len() > 1, "{hashes:?}");
    }
}
