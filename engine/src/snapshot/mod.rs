//! What is seen of the cluster at one instant: the engine's only input.

mod node;
mod pod;
mod queue;
mod quota;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use node::Node;
pub use pod::{Immunity, Phase, Pod};
pub use queue::{Acceptance, LastReplica, Policy, Queue};
pub use quota::Quota;
pub use settings::Settings;

use crate::labels::Labels;
use crate::names::{Namespace, NodeName};
use crate::time::Timestamp;

/// Everything a decision is made from.
///
/// Namespaces and nodes are shared with whoever keeps the index, so taking a snapshot copies pointers, not pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// When it was taken; the engine's only notion of "now".
    pub now: Timestamp,
    /// What the administrator configured.
    pub settings: Settings,
    /// Every node that the API server knows.
    pub nodes: BTreeMap<NodeName, Arc<Node>>,
    /// Every namespace that holds a pod, a Queue or a quota of ours.
    pub namespaces: BTreeMap<Namespace, Arc<NamespaceState>>,
}

impl Snapshot {
    /// Whether others could use what `pod` leaves behind.
    ///
    /// The capacity of a node that does not count leaves with its pods, so evicting them frees nothing.
    pub(crate) fn frees_room(&self, pod: &Pod) -> bool {
        pod.node.as_ref().is_none_or(|node| self.nodes.get(node).is_some_and(|node| node.counts))
    }
}

/// One namespace: its labels, its Queues, its quota and its pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceState {
    /// The namespace's labels, which a parent queue may select by.
    pub labels: Labels,
    /// Every Queue in it, valid or not.
    pub queues: Vec<Queue>,
    /// The ResourceQuota `quotient`, if there is one.
    pub quota: Option<Quota>,
    /// Its pods, finished ones left out or not: the engine skips them.
    pub pods: Vec<Pod>,
}
