//! When objects that other writers change are restored.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::names::QueueName;
use tokio::time::Instant;

/// How long an object that has lost its owner is left as it is. The garbage collector takes the reference away from what is to
/// outlive a deleted Queue, and the view may show that before it shows that the Queue goes.
const ORPHANED: Duration = Duration::from_secs(1);

/// How long it stays known that an object was left as it is for that reason: it is not left so again.
const KNOWN: Duration = Duration::from_secs(60);

/// Paces how often the one object of each Queue is restored.
///
/// Two that correct each other would write for ever, so the same object is restored once at once and then only now and then.
///
/// Only a hint: after a restart the first change is restored at once again.
#[derive(Debug)]
pub(super) struct Restores {
    pub(super) interval: Duration,
    /// The objects that were restored, and until when that is not done again.
    restored: BTreeMap<QueueName, Instant>,
    /// The objects that were seen without their owner, and until when they are left as they are.
    orphaned: BTreeMap<QueueName, Instant>,
}

impl Restores {
    /// Restores one object at most every `interval`.
    pub(super) const fn new(interval: Duration) -> Self {
        Self { interval, restored: BTreeMap::new(), orphaned: BTreeMap::new() }
    }

    /// Forgets what is over.
    pub(super) fn begin(&mut self, now: Instant) {
        self.restored.retain(|_, until| now < *until);
        self.orphaned.retain(|_, until| now.saturating_duration_since(*until) < KNOWN);
    }

    /// The object of `queue` was restored.
    pub(super) fn restored(&mut self, queue: &QueueName, now: Instant) {
        self.orphaned.remove(queue);
        self.restored.insert(queue.clone(), now.checked_add(self.interval).unwrap_or(now));
    }

    /// Until when the object of `queue` is not restored again, because it was a short while ago.
    pub(super) fn rests_until(&self, queue: &QueueName, now: Instant) -> Option<Instant> {
        self.restored.get(queue).copied().filter(|until| now < *until)
    }

    /// Until when the object of `queue` is left as it is, because it `lost_owner` a moment ago.
    pub(super) fn orphaned_until(
        &mut self,
        queue: &QueueName,
        lost_owner: bool,
        now: Instant,
    ) -> Option<Instant> {
        if !lost_owner {
            self.orphaned.remove(queue);
            return None;
        }
        let end = now.checked_add(ORPHANED).unwrap_or(now);
        let until = *self.orphaned.entry(queue.clone()).or_insert(end);
        (now < until).then_some(until)
    }
}
