//! The one view of the cluster that watches feed, the loop reads and writers amend.

use std::sync::{Arc, Mutex};

use quotient_index::Index;
use tokio::sync::Notify;

use crate::lock::lock;

/// The index, shared, and the bell that wakes the loop.
///
/// The lock is held for one event or one snapshot at a time and never across an await.
#[derive(Clone, Debug)]
pub struct View(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    index: Mutex<Index>,
    changed: Notify,
}

impl View {
    /// Shares `index`.
    pub fn new(index: Index) -> Self {
        Self(Arc::new(Inner { index: Mutex::new(index), changed: Notify::new() }))
    }

    /// Reads, or takes a snapshot.
    pub fn read<T>(&self, reader: impl FnOnce(&mut Index) -> T) -> T {
        reader(&mut lock(&self.0.index))
    }

    /// Changes something, and wakes the loop if the change says that a decision may depend on it.
    pub fn update(&self, change: impl FnOnce(&mut Index) -> bool) {
        if self.read(change) {
            self.wake();
        }
    }

    /// Wakes the loop.
    pub fn wake(&self) {
        self.0.changed.notify_one();
    }

    /// Waits for the next change. Changes without a waiting task are not lost: the next call returns at once.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }
}
