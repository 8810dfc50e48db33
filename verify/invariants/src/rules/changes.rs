//! What others did a moment ago, and the operator may not know.

use std::collections::VecDeque;

use crate::amounts::Amounts;

use crate::cluster_state::ClusterState;
use crate::write::Write;

/// The recent changes by others than the operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    recent: VecDeque<Change>,
}

#[derive(Clone, Debug)]
struct Change {
    at: i64,
    namespace: String,
    /// By how much less fits now than before: capacity that left, room that was taken.
    squeeze: Amounts,
    /// What live pods of the namespace have given up.
    given_up: Amounts,
    /// Whether its quota was edited or deleted.
    quota: bool,
    /// Whether it is about the spec of a Queue.
    queue: bool,
}

impl Changes {
    /// Notes what a write of another client did: `capacity` and `held` were capacity and
    /// what all occupied, `live` the live pods of its
    /// namespace.
    pub(crate) fn note(
        &mut self,
        write: &Write<'_>,
        cluster: &ClusterState,
        (capacity, held): (&Amounts, &Amounts),
        live: &Amounts,
    ) {
        let mut squeeze = cluster.all_occupied().less(held);
        squeeze.add_all(&capacity.less(&cluster.capacity()));
        let live_now = cluster.places.get(write.namespace).map(crate::Place::live).unwrap_or_default();
        let given_up = live.less(&live_now);
        // What its controller copies into the status is no change of it.
        let quota = write.resource == "resourcequotas" && write.subresource.is_empty();
        let queue = write.resource == "queues" && write.subresource.is_empty();
        if quota || queue || !squeeze.is_empty() || !given_up.is_empty() {
            let namespace = write.namespace.to_owned();
            self.recent.push_back(Change { at: write.at, namespace, squeeze, given_up, quota, queue });
        }
    }

    /// Forgets what every watch has shown by now.
    pub(crate) fn forget_before(&mut self, at: i64) {
        while self.recent.front().is_some_and(|change| change.at < at) {
            self.recent.pop_front();
        }
    }

    /// By how much less fits because of what others did.
    pub(crate) fn squeeze(&self) -> Amounts {
        self.recent.iter().map(|change| &change.squeeze).sum()
    }

    /// Whether the quota of a namespace was edited.
    pub(crate) fn of_quota(&self, namespace: &str) -> bool {
        self.recent.iter().any(|change| change.quota && change.namespace == namespace)
    }

    /// Whether the spec of a Queue was edited.
    pub(crate) fn of_queues(&self) -> bool {
        self.recent.iter().any(|change| change.queue)
    }

    /// Whether the spec of a Queue of the namespace was edited, or one in a namespace with parents.
    pub(crate) fn of_queues_above(&self, cluster: &ClusterState, namespace: &str) -> bool {
        let has_parents = |namespace: &str| {
            let place = cluster.places.get(namespace);
            place.is_some_and(|place| place.queues.values().any(|queue| queue.is_parent))
        };
        let is_above = |change: &Change| change.namespace == namespace || has_parents(&change.namespace);
        self.recent.iter().any(|change| change.queue && is_above(change))
    }

    /// What live pods of all namespaces have given up by themselves.
    pub(crate) fn all_given_up(&self) -> Amounts {
        self.recent.iter().map(|change| &change.given_up).sum()
    }

    /// What live pods of a namespace have given up by themselves.
    pub(crate) fn given_up(&self, namespace: &str) -> Amounts {
        let changes = self.recent.iter().filter(|change| change.namespace == namespace);
        changes.map(|change| &change.given_up).sum()
    }
}
