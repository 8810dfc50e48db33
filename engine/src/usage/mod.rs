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
#[derive(Debug)]
pub(crate) struct Usage<'a> {
    /// What they are sums of.
    pub(crate) snapshot: &'a Snapshot,
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
    let (mut nodes, mut unreclaimable) = (NodesUsage::new(snapshot), PodSet::default());
    let mut carry = |pod: &'a Pod| {
        if pod.node.as_ref().is_some_and(|node| !nodes.carry(node, pod)) {
            unreclaimable.insert(pod);
        }
    };
    let namespaces = snapshot.namespaces.iter();
    let namespaces =
        namespaces.map(|(name, namespace)| (name, count(namespace, snapshot.now, &mut carry))).collect();
    nodes.add_up();
    Usage { snapshot, namespaces, nodes, unreclaimable }
}

/// Counts the pods of one namespace; each that is charged is given to `carry` once.
fn count<'a>(
    namespace: &'a NamespaceState,
    now: Timestamp,
    mut carry: impl FnMut(&'a Pod),
) -> NamespaceUsage {
    let mut namespace_usage = NamespaceUsage::default();
    let (mut charged, mut without_node) = (Amounts::new(), Amounts::new());
    let (mut last_charged, mut last_without_node) = (Alike::default(), Alike::default());
    for pod in namespace.pods.iter().filter(|pod| pod.is_charged()) {
        last_charged.add(&pod.shape, &mut charged);
        if pod.node.is_none() {
            last_without_node.add(&pod.shape, &mut without_node);
        }
        carry(pod);
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
