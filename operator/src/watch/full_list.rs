//! Full lists of one kind: counting them, and asking for another.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quotient_index::ListLoss;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::lock::lock;

/// The most of the kept objects that a list may lack without being doubted. More is more often an API server that answers with
/// a part than a cluster that has lost so much while its watch was not followed.
const MOST_LOST_PERCENT: usize = 30;

/// How long after a doubtful list another one has to say the same. As long, objects that are gone still count, so nothing is
/// granted of what they hold.
const DOUBT: Duration = Duration::from_secs(10);

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
    /// When a list lacked much first, until one does not, or says the same later.
    doubted: Mutex<Option<Instant>>,
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
        *lock(&self.0.counts)
    }

    /// Whether a list with this `loss` is not believed. If so, another one is asked for.
    pub(crate) fn doubts(&self, loss: ListLoss, now: Instant) -> bool {
        let is_deep = loss.missing.saturating_mul(100) > loss.kept.saturating_mul(MOST_LOST_PERCENT);
        let mut doubted = lock(&self.0.doubted);
        match *doubted {
            _ if !is_deep => *doubted = None,
            None => {
                *doubted = Some(now);
                let list = self.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(DOUBT).await;
                    list.ask();
                });
            }
            Some(since) if now.duration_since(since) >= DOUBT => *doubted = None,
            Some(_) => {}
        }
        doubted.is_some()
    }

    /// Waits until a task asks for a full list.
    pub(crate) async fn wanted(&self) {
        self.0.wanted.notified().await;
    }

    pub(crate) fn begins(&self) {
        let mut counts = lock(&self.0.counts);
        counts.begun = counts.begun.saturating_add(1);
    }

    pub(crate) fn ends(&self) {
        let mut counts = lock(&self.0.counts);
        counts.finished = counts.begun;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_short_list_is_believed_when_another_one_says_the_same() {
        let list = FullList::default();
        let loss = |missing, kept| ListLoss { missing, kept };
        assert!(!list.doubts(loss(0, 0), Instant::now()) && !list.doubts(loss(3, 10), Instant::now()));
        assert!(list.doubts(loss(4, 10), Instant::now()));
        // One that follows at once says nothing new.
        assert!(list.doubts(loss(4, 10), Instant::now()));
        list.wanted().await;
        assert!(!list.doubts(loss(4, 10), Instant::now()));
        // And one that is whole ends the doubt.
        assert!(list.doubts(loss(10, 10), Instant::now()) && !list.doubts(loss(0, 10), Instant::now()));
        assert!(list.doubts(loss(10, 10), Instant::now()));
    }
}
