//! Which kinds have had their first full list.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// The kinds that have not been listed in full yet. Until there are none, nothing may be decided: a pod that was
/// not listed yet looks like free capacity.
#[derive(Clone, Debug)]
pub struct Synced(Arc<Mutex<BTreeSet<&'static str>>>);

impl Synced {
    /// None of `kinds` has been listed.
    pub fn none_of(kinds: impl IntoIterator<Item = &'static str>) -> Self {
        Self(Arc::new(Mutex::new(kinds.into_iter().collect())))
    }

    /// `kind` has been listed in full. Says whether that was the last one missing.
    pub(crate) fn mark(&self, kind: &'static str) -> bool {
        let mut missing = lock(&self.0);
        missing.remove(kind) && missing.is_empty()
    }

    /// Whether every kind has been listed.
    pub fn is_complete(&self) -> bool {
        lock(&self.0).is_empty()
    }

    /// The kinds that have not been listed, in order.
    pub fn missing(&self) -> Vec<&'static str> {
        lock(&self.0).iter().copied().collect()
    }
}
