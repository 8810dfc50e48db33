//! What the index needs to know from configuration.

use std::collections::BTreeSet;

use kube::core::Selector;
use quotient_snapshot::Settings;
use quotient_snapshot::amounts::Amounts;
use quotient_snapshot::names::Namespace;

/// How objects are read into snapshots.
#[derive(Clone, Debug)]
pub struct IndexSettings {
    /// Handed on to the engine in every snapshot.
    pub engine: Settings,
    /// How long a node has to be Ready before it counts, in seconds.
    pub ready_seconds: i64,
    /// The nodes that count, by label. The default selects all.
    pub nodes: Selector,
    /// What the cluster grows to at most where an autoscaler adds nodes: what is missing to it counts as expandable.
    /// Empty where nothing is added.
    pub ceiling: Amounts,
    /// Whether the policy that gates pods is in the cluster. If not, a Queue in Gate mode works as in Quota mode.
    pub gate_mode: bool,
    /// Namespaces that no Queue can manage, because their pods keep the cluster running.
    pub protected: BTreeSet<Namespace>,
}

impl IndexSettings {
    /// How long a node has to be Ready before it counts, unless configured: long enough to outlast a flapping
    /// kubelet, short enough to be no wait when a cluster grows.
    pub const DEFAULT_READY_SECONDS: i64 = 10;

    /// The namespaces that no Queue can manage, unless configured: those of Kubernetes itself.
    pub const PROTECTED: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self {
            engine: Settings::default(),
            ready_seconds: Self::DEFAULT_READY_SECONDS,
            nodes: Selector::default(),
            ceiling: Amounts::new(),
            gate_mode: false,
            protected: Self::PROTECTED.into_iter().map(Namespace::from).collect(),
        }
    }
}
