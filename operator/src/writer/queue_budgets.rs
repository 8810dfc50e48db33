//! How many pods of one queue are evicted in a while.

use std::collections::BTreeMap;

use quotient_engine::names::QueueName;
use tokio::time::Instant;

use super::rate::Rate;

/// Bounds the evictions of every queue by itself, so that whatever goes wrong with one does not empty it at once.
///
/// Only a hint: after a restart every queue begins anew.
#[derive(Debug)]
pub(super) struct QueueBudgets {
    count: u32,
    spent: BTreeMap<QueueName, Rate>,
}

impl QueueBudgets {
    /// At most `count` of every queue at once, and as many more a minute.
    pub(super) const fn new(count: u32) -> Self {
        Self { count, spent: BTreeMap::new() }
    }

    /// Forgets queues that could lose as many as ever.
    pub(super) fn forget_rested(&mut self, now: Instant) {
        self.spent.retain(|_, rate| !rate.is_rested(now));
    }

    /// When a pod of `queue` may be evicted; counted as evicted if that is now.
    pub(super) fn take(&mut self, queue: &QueueName, now: Instant) -> Instant {
        let count = self.count;
        let rate = self.spent.entry(queue.clone()).or_insert_with(|| Rate::per_minute(count));
        let at = rate.next(now);
        if at <= now { rate.reserve(now) } else { at }
    }
}
