//! The Queues of a namespace.

use std::mem;
use std::sync::Arc;

use quotient_snapshot::amounts::{Amount, Resource};
use quotient_snapshot::{Queue, Remembered};

use super::{NamespaceEntry, keep};
use crate::queues::ObservedQueue;

/// What only the index needs to know of a Queue.
#[derive(Debug)]
pub(super) struct QueueEntry {
    observed: Arc<ObservedQueue>,
    /// Whether what the last decision left to the next one is known first-hand: then its status, which tells the
    /// same later, is not read any more.
    remembers: bool,
}

impl NamespaceEntry {
    /// Keeps `queue` and what was observed of it. Says whether anything changed that a decision depends on.
    ///
    /// What is remembered does not count as a change: it comes from decisions.
    pub(crate) fn put_queue(&mut self, mut queue: Queue, observed: ObservedQueue) -> bool {
        self.set_vacant(false);
        let place = self.find_queue(&queue.name);
        let Ok(at) = place else {
            keep(&mut Arc::make_mut(&mut self.state).queues, place, queue);
            let entry = QueueEntry { observed: Arc::new(observed), remembers: false };
            keep(&mut self.queues, place, entry);
            return true;
        };
        let Some((kept, entry)) = self.state.queues.get(at).zip(self.queues.get_mut(at)) else {
            return false;
        };
        entry.remembers &= entry.observed.uid == observed.uid;
        entry.observed = Arc::new(observed);
        let remembered = mem::replace(&mut queue.remembered, kept.remembered.clone());
        let alike = *kept == queue;
        if !entry.remembers {
            queue.remembered = remembered;
        }
        if !alike || queue.remembered != kept.remembered {
            keep(&mut Arc::make_mut(&mut self.state).queues, place, queue);
        }
        !alike
    }

    /// Keeps what the last decision left to the next one. Says whether that is other than before.
    pub(crate) fn remember(&mut self, name: &str, remembered: Remembered) -> bool {
        let Ok(at) = self.find_queue(name) else { return false };
        let Some(entry) = self.queues.get_mut(at) else { return false };
        entry.remembers = true;
        if self.state.queues.get(at).is_none_or(|kept| kept.remembered == remembered) {
            return false;
        }
        if let Some(kept) = Arc::make_mut(&mut self.state).queues.get_mut(at) {
            kept.remembered = remembered;
        }
        true
    }

    /// What was observed of the Queue of this name.
    pub(crate) fn queue(&self, name: &str) -> Option<&Arc<ObservedQueue>> {
        self.queues.get(self.find_queue(name).ok()?).map(|entry| &entry.observed)
    }

    /// Forgets the Queue of this name.
    pub(crate) fn remove_queue(&mut self, name: &str) {
        let Ok(at) = self.find_queue(name) else { return };
        self.queues.remove(at);
        Arc::make_mut(&mut self.state).queues.remove(at);
    }

    /// Notes whether the API server has confirmed that no Queue governs the namespace.
    pub(crate) fn set_vacant(&mut self, vacant: bool) {
        if self.state.vacant != vacant {
            Arc::make_mut(&mut self.state).vacant = vacant;
        }
    }

    /// The names of the Queues, in order.
    pub(crate) fn queue_names(&self) -> impl Iterator<Item = Arc<str>> {
        self.state.queues.iter().map(|queue| queue.name.clone())
    }

    /// What Queues of the namespace say that containers request of `resource` that do not say it.
    pub(super) fn queue_default(&self, resource: &Resource) -> Option<Amount> {
        self.queues.iter().filter_map(|entry| entry.observed.default_requests.get(resource)).max()
    }

    fn find_queue(&self, name: &str) -> Result<usize, usize> {
        self.state.queues.binary_search_by(|queue| (*queue.name).cmp(name))
    }
}
