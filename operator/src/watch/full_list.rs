//! Full lists of one kind: counting them, and asking for another.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The full lists with which a watch begins. Cheap to clone.
///
/// kube asks for them without a resourceVersion, so that the answer is what etcd holds and not what some API server
/// remembers.
#[derive(Clone, Debug, Default)]
pub struct FullList(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    wanted: Notify,
    counts: Mutex<ListCounts>,
}

/// How many full lists there have been.
///
/// A list answers what was doubted while it was not begun yet: one that is finished and whose number is above that of
/// the last one begun then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListCounts {
    /// How many were begun.
    pub begun: u64,
    /// The number of the last that was read to its end.
    pub finished: u64,
}

impl FullList {
    /// Has the kind listed anew, as soon as possible.
    pub fn ask(&self) {
        self.0.wanted.notify_one();
    }

    /// How many there have been.
    pub fn counts(&self) -> ListCounts {
        self.change(|counts| *counts)
    }

    /// Waits until somebody asks.
    pub(crate) async fn wanted(&self) {
        self.0.wanted.notified().await;
    }

    pub(crate) fn begins(&self) {
        self.change(|counts| counts.begun = counts.begun.saturating_add(1));
    }

    pub(crate) fn ends(&self) {
        self.change(|counts| counts.finished = counts.begun);
    }

    fn change<T>(&self, with: impl FnOnce(&mut ListCounts) -> T) -> T {
        with(&mut self.0.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
