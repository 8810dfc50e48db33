//! What is seen of the cluster at one instant, and what was granted there: all that a decision is made from.
//!
//! **Architecture invariant:** nothing here decides which queue has what, or which pod goes. What reads Kubernetes objects needs
//! this crate and not the engine.

mod admission;
mod budget;
mod grant_gate;
pub mod labels;
pub mod ledger;
mod mode;
pub mod names;
mod narrowed;
mod node;
mod owner;
mod placement;
mod pod;
mod pod_id;
mod queue;
mod queue_job;
mod quota;
pub mod reasons;
mod reclaim_gate;
mod rejection;
mod remembered;
mod settings;
mod shape;
mod size;
mod stable_hash;
mod targets;
pub mod time;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use quotient_amounts as amounts;

pub use admission::{Admission, GatePosition};
pub use budget::Budget;
pub use grant_gate::GrantGate;
pub use mode::Mode;
pub use node::Node;
pub use owner::{ConfiguredKind, GATED_PODS, Owner, OwnerKind, Unspecified};
pub use placement::{NodeRequirement, NodeTerm, Placement, Taint, TaintEffect, Toleration};
pub use pod::{Phase, Pod};
pub use pod_id::PodId;
pub use queue::{
    Acceptance, EvictionPolicy, EvictionRules, GangPolicy, LastReplica, Preemption, Queue, Reclaim,
    ReclaimFrom,
};
pub use queue_job::{Ended, QueueJob, QueueTask, RememberedJob};
pub use quota::Quota;
pub use reclaim_gate::ReclaimGate;
pub use rejection::Rejection;
pub use remembered::{MAX_SET_ASIDE, Remembered, SetAside, Window};
pub use settings::{Settings, VictimPriority};
pub use shape::{Gang, LeftOut, PodMetadata, Shape};
pub use size::{ScaleTarget, ScaleTargetKind, Size};
pub use stable_hash::{StableHasher, stable_hash};
pub use targets::{KeptTarget, Targets};
pub use workload::Workload;

use crate::amounts::Bounds;
use crate::labels::Labels;
use crate::names::{Namespace, NodeName, PodUid};
use crate::time::Timestamp;

/// Everything a decision is made from.
///
/// Namespaces and nodes are shared with the index, so taking a snapshot copies pointers, not pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When it was taken; the engine's only notion of "now".
    pub now: Timestamp,
    /// What the administrator configured.
    pub settings: Settings,
    /// Whether quotas may rise into what is free.
    pub grant_gate: GrantGate,
    /// Whether the view allows quotas to shrink and pods to be evicted.
    pub reclaim_gate: ReclaimGate,
    /// The targets that the ledger holds; none where it holds none.
    pub targets: Option<Arc<Targets>>,
    /// Every node that the API server knows.
    pub nodes: BTreeMap<NodeName, Arc<Node>>,
    /// Every namespace that holds a pod, a Queue or a quota of ours.
    pub namespaces: BTreeMap<Namespace, Arc<NamespaceState>>,
}

impl Snapshot {
    /// Whether some node that counts could run a pod of this shape if it were empty.
    #[must_use]
    pub fn could_run(&self, shape: &Shape) -> bool {
        self.nodes.iter().any(|(name, node)| {
            node.counts && shape.requests.fits_in(&node.allocatable) && node.may_run(name, shape)
        })
    }
}

/// One namespace: its labels, its Queues, its quota and its pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceState {
    /// The namespace's labels, which a parent queue may select by.
    pub labels: Labels,
    /// Every Queue in it, valid or not.
    pub queues: Vec<Queue>,
    /// Whether the API server has confirmed, after the ledger was read, that no Queue governs the namespace.
    pub vacant: bool,
    /// Whether it is being deleted: the API server creates nothing in it any more.
    pub terminating: bool,
    /// The ResourceQuota `quotient`, if there is one.
    pub quota: Option<Quota>,
    /// Its pods, finished ones left out or not: the engine skips them.
    pub pods: Vec<Pod>,
    /// Its ReplicaSets, StatefulSets, Jobs and tasks of QueueJobs that want pods.
    pub owners: Vec<Owner>,
    /// Its QueueJobs; what their tasks want stands among the owners, too.
    pub queue_jobs: Vec<QueueJob>,
    /// Its PodDisruptionBudgets.
    pub budgets: Vec<Budget>,
    /// Per resource the least that ResourceQuotas of others allow here: it bounds the share as a limit does.
    pub foreign_quotas: Bounds,
    /// The pods whose eviction the API server refused a short while ago.
    pub refused: BTreeSet<PodUid>,
}

impl NamespaceState {
    /// The Queue that governs the namespace: its oldest leaf, valid or not.
    pub fn governing(&self) -> Option<&Queue> {
        let leaves = self.queues.iter().filter(|queue| queue.children.is_none());
        leaves.min_by_key(|queue| (queue.created, &queue.uid))
    }

    /// Whether its pods wait gated for room, so that its quota holds only the limit.
    pub fn is_in_gate_mode(&self) -> bool {
        self.governing().is_some_and(|queue| queue.admission == Admission::Gate)
    }

    /// Its pods that wait gated, in no order.
    pub fn gated_pods(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(|pod| pod.is_gated())
    }

    /// The quota, if its amounts count as granted: a Queue governs the namespace, or may do so unseen.
    ///
    /// A quota with an owner reference is evidence of its Queue until garbage collection deletes both, and so is an entry of
    /// the ledger. A quota without either is left over; it restricts an unmanaged namespace and grants nothing.
    pub fn granting_quota(&self) -> Option<&Quota> {
        let quota = self.quota.as_ref().filter(|quota| quota.ours)?;
        let counts = quota.owner.is_some() || quota.granted.is_some() || self.governing().is_some();
        counts.then_some(quota)
    }
}
