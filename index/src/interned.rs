//! Values that many entries have in common, stored once.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// Shared values: the shapes and metadata of pods; node names, labels and ids as texts.
///
/// A cluster of 150,000 pods has a few hundred shapes and a few thousand nodes.
#[derive(Debug)]
pub(crate) struct Interned<T: ?Sized> {
    values: HashSet<Arc<T>>,
    /// Unused values are thrown out when there are this many.
    sweep_at: usize,
}

/// Below this many values there is no search for unused ones.
const SMALLEST_SWEEP: usize = 256;

impl<T: ?Sized> Default for Interned<T> {
    fn default() -> Self {
        Self { values: HashSet::default(), sweep_at: SMALLEST_SWEEP }
    }
}

impl<T: ?Sized + Eq + Hash> Interned<T> {
    /// The shared value equal to `value`.
    pub(crate) fn get<V: Borrow<T> + Into<Arc<T>>>(&mut self, value: V) -> Arc<T> {
        if let Some(known) = self.values.get(value.borrow()) {
            return known.clone();
        }
        if self.values.len() >= self.sweep_at {
            self.values.retain(|value| Arc::strong_count(value) > 1);
            self.sweep_at = self.values.len().saturating_mul(2).max(SMALLEST_SWEEP);
        }
        let shared: Arc<T> = value.into();
        self.values.insert(shared.clone());
        shared
    }

    /// The shared value equal to `value`: `known`, if that is it.
    ///
    /// Most events leave an object as it was. To see that costs less than to look for it among all.
    pub(crate) fn get_like<V: Borrow<T> + Into<Arc<T>>>(
        &mut self,
        value: V,
        known: Option<&Arc<T>>,
    ) -> Arc<T> {
        match known {
            Some(known) if **known == *value.borrow() => Arc::clone(known),
            _ => self.get(value),
        }
    }

    /// How many values are kept.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_and_unused_ones_go() {
        let mut interned: Interned<String> = Interned::default();
        let kept = interned.get("kept".to_owned());
        assert!(Arc::ptr_eq(&kept, &interned.get("kept".to_owned())));
        for number in 0..10 * SMALLEST_SWEEP {
            interned.get(number.to_string());
            assert!(interned.values.len() <= SMALLEST_SWEEP);
        }
        assert!(Arc::ptr_eq(&kept, &interned.get("kept".to_owned())));
    }
}
