//! Pods that hang in Terminating.

use super::PodId;
use super::leaf::Leaf;
use crate::demand::earliest;
use crate::snapshot::Pod;
use crate::time::Timestamp;
use crate::tree::{Branch, Tree};

/// How long past its deadline a pod counts as one that does not go by itself, in seconds. A kubelet needs a moment
/// after the grace is over, and a cluster under load some more.
const OVERDUE_SECONDS: i64 = 60;

/// The pods of governed namespaces that should have been gone.
#[derive(Debug, Default)]
pub(super) struct Hanging {
    /// Those that will hardly go by themselves.
    pub(super) overdue: Vec<PodId>,
    /// Those that their queue wants gone without grace by now. A pod whose deletion was asked for without grace
    /// already is left alone: nothing more can be asked for.
    pub(super) forced: Vec<PodId>,
    /// When one more pod will be among them.
    pub(super) next_change: Option<Timestamp>,
}

impl Hanging {
    /// Those that hang in the namespaces of `leaves`, by name; an entry of `leaves` a branch.
    pub(super) fn of(tree: &Tree<'_>, leaves: &[Option<Leaf<'_>>], now: Timestamp) -> Self {
        let mut hanging = Self::default();
        for (branch, leaf) in tree.branches.iter().zip(leaves) {
            if let Some(leaf) = leaf.as_ref().filter(|leaf| leaf.headcount.pods.terminating > 0) {
                hanging.add(branch, leaf, now);
            }
        }
        hanging.overdue.sort();
        hanging.forced.sort();
        hanging
    }

    fn add(&mut self, branch: &Branch<'_>, leaf: &Leaf<'_>, now: Timestamp) {
        let namespace = &branch.name.namespace;
        let id =
            |pod: &Pod| PodId { namespace: namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() };
        for pod in leaf.state.pods.iter().filter(|pod| pod.is_charged()) {
            let Some(deadline) = pod.deletion else { continue };
            let mut is_past = |wait: i64| {
                let at = deadline.plus_seconds(wait);
                if at > now {
                    self.next_change = earliest(self.next_change, Some(at));
                }
                at <= now
            };
            let is_overdue = is_past(OVERDUE_SECONDS);
            let wait = leaf.eviction.force_after_seconds.filter(|_| !pod.forced && branch.reach.evicts());
            let is_to_be_forced = wait.is_some_and(|wait| is_past(i64::from(wait)));
            self.overdue.extend(is_overdue.then(|| id(pod)));
            self.forced.extend(is_to_be_forced.then(|| id(pod)));
        }
    }
}
