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
pub use queue::Queue;
pub use quota::Quota;
pub use settings::Settings;

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

/// One namespace: its Queues, its quota and its pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceState {
    /// Every Queue in it, valid or not.
    pub queues: Vec<Queue>,
    /// The ResourceQuota `quotient`, if there is one.
    pub quota: Option<Quota>,
    /// Its pods, finished ones left out or not: the engine skips them.
    pub pods: Vec<Pod>,
}
