//! How many operations are carried out at a time, and how fast.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::names::QueueName;
use tokio::time::Instant;

use super::{Class, Operation, Purpose, Rate, shortens_grace};
use crate::settings::WriteSettings;

/// While more evictions of one namespace are left than this, half as many are under way: the API server has time for what
/// starts in the room that is freed.
const FEW_EVICTIONS: usize = 64;

/// The bounds of all classes.
#[derive(Debug)]
pub(crate) struct Pace {
    settings: WriteSettings,
    evictions: Rate,
    /// Bounds the evictions of every queue by itself, so that whatever goes wrong with one does not empty it at once. Only a
    /// hint: after a restart every queue begins anew.
    of_queues: BTreeMap<QueueName, Rate>,
}

impl Pace {
    pub(crate) fn new(settings: WriteSettings) -> Self {
        let evictions = Rate::per_second(settings.evictions_per_second);
        Self { settings, evictions, of_queues: BTreeMap::new() }
    }

    /// How many operations of `class` are under way at a time where so many are `left`; of evictions, in one namespace.
    pub(super) const fn parallel(&self, class: Class, left: usize) -> usize {
        match class {
            Class::Quota | Class::LimitRange => self.settings.quotas_in_parallel,
            Class::Eviction if left > FEW_EVICTIONS => self.settings.evictions_in_parallel.div_ceil(2),
            Class::Eviction => self.settings.evictions_in_parallel,
            // One small write, which takes the API server some milliseconds.
            Class::Gate => 32,
            Class::QueueJob | Class::JobStatus => 16,
            Class::UsageResync | Class::Requeue | Class::Scaling | Class::Status => 8,
        }
    }

    /// Whether a cycle that has begun `count` operations of `class` begins no more, or none could be sent within `begins`.
    pub(super) fn is_used_up(&self, class: Class, count: usize, begins: Duration, now: Instant) -> bool {
        let wait = self.evictions.next(now).duration_since(now);
        class == Class::Eviction && (count >= self.settings.evictions_per_cycle || wait >= begins)
    }

    /// When the next cycle, which begins operations for as long as `begins`, has some of `class` to send: a little before the
    /// first of them, as it has more to do than that.
    pub(super) fn goes_on(&self, class: Class, begins: Duration, now: Instant) -> Instant {
        let head_start = begins.checked_div(2).unwrap_or_default();
        let earliest = self.evictions.next(now).checked_sub(head_start).filter(|_| class == Class::Eviction);
        earliest.map_or(now, |earliest| earliest.max(now))
    }

    /// When `operation` may be sent; it counts as sent then. If its queue has lost enough pods for now: when it may be tried
    /// again.
    pub(super) fn reserve(&mut self, operation: &Operation, now: Instant) -> Result<Instant, Instant> {
        match &operation.purpose {
            Purpose::Eviction { eviction, .. } if !shortens_grace(eviction) => {
                let count = self.settings.evictions_per_queue;
                let new = || Rate::per_minute(count);
                let rate = self.of_queues.entry(eviction.queue.clone()).or_insert_with(new);
                let at = rate.next(now);
                if at > now {
                    return Err(at);
                }
                rate.reserve(now);
                Ok(self.evictions.reserve(now))
            }
            Purpose::Eviction { .. } => Ok(self.evictions.reserve(now)),
            _ => Ok(now),
        }
    }

    /// Forgets queues that could lose as many pods as ever.
    pub(super) fn forget_rested(&mut self, now: Instant) {
        self.of_queues.retain(|_, rate| !rate.is_rested(now));
    }
}
