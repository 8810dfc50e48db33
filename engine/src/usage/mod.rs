//! One pass over all pods: what every namespace is charged and what every node carries.

mod alike;
mod nodes;

use std::collections::BTreeMap;

use alike::Alike;
use nodes::NodesUsage;

use crate::amounts::Amounts;
use crate::names::Namespace;
use crate::plan::PodCounts;
use crate::pod_set::PodSet;
use crate::snapshot::{NamespaceState, Phase, Pod, Snapshot};
use crate::time::Timestamp;

/// The sums that everything else is computed from.
#[derive(Debug, Default)]
pub(crate) struct Usage<'a> {
    pub(crate) namespaces: BTreeMap<&'a Namespace, NamespaceUsage>,
    /// The requests of the pods bound to each node, whether the node still exists or not.
    pub(crate) nodes: NodesUsage<'a>,
    /// The pods on nodes that do not count: as a rule there are none.
    unreclaimable: PodSet,
}

/// What the pods of one namespace request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamespaceUsage {
    /// All that are not finished: what quota admission charges.
    pub(crate) charged: Amounts,
    /// Of these, the ones on their way out.
    pub(crate) leaving: Amounts,
    /// Of the charged, the ones bound to a node.
    pub(crate) bound: Amounts,
    pub(crate) pods: PodCounts,
    /// Whether a pod makes no progress that is live, or was evicted.
    pub(crate) stuck: bool,
}

impl NamespaceUsage {
    /// What stays charged of everything once what is on its way out is gone.
    pub(crate) fn all_staying(&self) -> Amounts {
        self.charged.less(&self.leaving)
    }
}

impl Usage<'_> {
    /// Whether others could use what `pod` leaves behind.
    ///
    /// The capacity of a node that does not count leaves with its pods, so evicting them frees nothing.
    pub(crate) fn frees_room(&self, pod: &Pod) -> bool {
        !self.unreclaimable.contains(pod)
    }
}

/// Counts every pod of the snapshot once.
pub(crate) fn take<'a>(snapshot: &'a Snapshot) -> Usage<'a> {
    let mut usage = Usage::default();
    let mut nodes = NodesUsage::new(snapshot);
    for (name, namespace) in &snapshot.namespaces {
        let carry = |pod: &'a Pod| pod.node.as_ref().is_none_or(|node| nodes.carry(node, pod));
        let namespace_usage = count(namespace, snapshot.now, carry, &mut usage.unreclaimable);
        usage.namespaces.insert(name, namespace_usage);
    }
    nodes.add_up();
    usage.nodes = nodes;
    usage
}

/// Counts the pods of one namespace; `frees_room` is asked once of each that is charged.
fn count<'a>(
    namespace: &'a NamespaceState,
    now: Timestamp,
    mut frees_room: impl FnMut(&'a Pod) -> bool,
    unreclaimable: &mut PodSet,
) -> NamespaceUsage {
    let mut namespace_usage = NamespaceUsage::default();
    let (mut charged, mut without_node) = (Amounts::new(), Amounts::new());
    let (mut last_charged, mut last_without_node) = (Alike::default(), Alike::default());
    for pod in namespace.pods.iter().filter(|pod| pod.is_charged()) {
        last_charged.add(&pod.shape, &mut charged);
        if pod.node.is_none() {
            last_without_node.add(&pod.shape, &mut without_node);
        }
        if !frees_room(pod) {
            unreclaimable.insert(pod);
        }
        namespace_usage.stuck |= pod.stuck_since(now).is_some() && (pod.evicted || !pod.is_terminating());
        let counter = if pod.is_terminating() {
            namespace_usage.leaving.add_all(pod.requests());
            &mut namespace_usage.pods.terminating
        } else if pod.phase == Phase::Running {
            &mut namespace_usage.pods.running
        } else {
            &mut namespace_usage.pods.pending
        };
        *counter = counter.saturating_add(1);
    }
    last_charged.close(&mut charged);
    last_without_node.close(&mut without_node);
    namespace_usage.bound = charged.less(&without_node);
    namespace_usage.charged = charged;
    namespace_usage
}
