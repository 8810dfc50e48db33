//! A set of pods of one snapshot.

use rustc_hash::FxHashSet;

use crate::snapshot::Pod;

/// A set of pods of one snapshot. Each is known by where it lies, which is faster than by its uid.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodSet(FxHashSet<*const Pod>);

impl PodSet {
    pub(crate) fn contains(&self, pod: &Pod) -> bool {
        self.0.contains(&std::ptr::from_ref(pod))
    }

    /// Adds `pod`; whether it is new.
    pub(crate) fn insert(&mut self, pod: &Pod) -> bool {
        self.0.insert(std::ptr::from_ref(pod))
    }

    /// Takes `pod` out; whether it was there.
    pub(crate) fn remove(&mut self, pod: &Pod) -> bool {
        self.0.remove(&std::ptr::from_ref(pod))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Extend<&'a Pod> for PodSet {
    fn extend<I: IntoIterator<Item = &'a Pod>>(&mut self, pods: I) {
        self.0.extend(pods.into_iter().map(std::ptr::from_ref));
    }
}
