//! Pods that hang in Terminating.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{Eviction, PodId, Stage};
use crate::reasons::EvictionReason;
use crate::snapshot::Pod;
use crate::time::{Timestamp, earliest};
use crate::tree::BranchMap;
use crate::workloads::Workloads;

/// The pods of governed namespaces that should have been gone.
#[derive(Debug, Default)]
pub(super) struct StuckTerminating {
    /// Those that will hardly go by themselves.
    pub(super) overdue: Vec<PodId>,
    /// When the first of the terminating pods of each queue began to terminate.
    pub(super) since: BTreeMap<QueueName, Timestamp>,
    /// Those that their queue wants gone without grace by now. A pod whose deletion was asked for without grace
    /// already is left alone: nothing more can be asked for.
    pub(super) forced: Vec<Eviction>,
    /// When one more pod will be among them.
    pub(super) next_change: Option<Timestamp>,
}

impl StuckTerminating {
    /// Those that hang in governed namespaces, by name.
    pub(super) fn of(cluster: Cluster<'_>, targets: &BranchMap<Amounts>) -> Self {
        let mut stuck_terminating = Self::default();
        for leaf in cluster.each_leaf().filter(|leaf| leaf.namespace_usage.pods.terminating > 0) {
            stuck_terminating.add(cluster, leaf, &targets[leaf.at]);
        }
        stuck_terminating.overdue.sort();
        stuck_terminating.forced.sort_by(|a, b| a.pod.cmp(&b.pod));
        stuck_terminating
    }

    fn add(&mut self, cluster: Cluster<'_>, leaf: &Leaf<'_>, target: &Amounts) {
        let (now, reach) = (cluster.snapshot.now, &cluster.tree.branches[leaf.at].reach);
        let workloads = LazyCell::new(|| Workloads::of(leaf.state));
        for pod in leaf.state.pods.iter().filter(|pod| pod.is_charged()) {
            let may_be_forced = !pod.forced && pod.kept.is_none();
            let (Some(deadline), Some(since)) = (pod.deletion, pod.terminating_since()) else { continue };
            let longest = self.since.entry(leaf.name.clone()).or_insert(since);
            *longest = since.min(*longest);
            let mut is_past = |wait: i64| {
                let at = deadline.plus_seconds(wait);
                if at > now {
                    self.next_change = earliest(self.next_change, Some(at));
                }
                at <= now
            };
            let is_overdue = is_past(Pod::OVERDUE_SECONDS);
            let wait = leaf.eviction.force_after_seconds.filter(|_| may_be_forced && reach.evicts());
            let is_to_be_forced = wait.is_some_and(|wait| is_past(i64::from(wait)));
            self.overdue.extend(is_overdue.then(|| PodId::of(&leaf.name.namespace, pod)));
            self.forced.extend(is_to_be_forced.then(|| Eviction {
                reason: EvictionReason::ForceDeleted,
                workload: workloads.of_pod(pod).cloned(),
                ..again(leaf, pod, target, 0)
            }));
        }
    }
}

/// The eviction of a terminating pod with the grace `grace_seconds`; its workload is left open.
pub(super) fn again(leaf: &Leaf<'_>, pod: &Pod, target: &Amounts, grace_seconds: u32) -> Eviction {
    Eviction {
        pod: PodId::of(&leaf.name.namespace, pod),
        workload: None,
        queue: leaf.name.clone(),
        beneficiary: None,
        reason: EvictionReason::GraceShortened,
        stage: Stage::Terminating,
        rank: None,
        priority: pod.priority,
        requests: pod.requests().clone(),
        used: Arc::new(leaf.namespace_usage.charged.clone()),
        deserved: Arc::new(target.clone()),
        grace_seconds: Some(grace_seconds),
    }
}
