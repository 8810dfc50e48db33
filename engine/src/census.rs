//! One pass over all pods: what every namespace is charged and what every node carries.

use std::collections::{BTreeMap, HashMap};

use crate::amounts::{Amount, Amounts, Resource};
use crate::names::{Namespace, NodeName};
use crate::plan::PodCounts;
use crate::snapshot::{NamespaceState, Phase, Snapshot};

/// The sums that everything else is computed from.
#[derive(Debug, Default)]
pub(crate) struct Census<'a> {
    pub(crate) namespaces: BTreeMap<&'a Namespace, Headcount>,
    /// Requests of the pods bound to each node, whether the node still exists or not. Only ever summed or looked up,
    /// so that its order cannot reach a decision.
    pub(crate) bound_to: HashMap<&'a NodeName, Amounts>,
}

/// What the pods of one namespace request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headcount {
    /// All that are not finished: what quota admission charges.
    pub(crate) charged: Amounts,
    /// Of these, the ones on their way out.
    pub(crate) leaving: Amounts,
    /// Of the charged, the ones bound to a node.
    pub(crate) bound: Amounts,
    /// What others cannot have: immune pods that stay, and all pods on nodes that do not count, whose room leaves with
    /// them.
    pub(crate) untakeable: Amounts,
    pub(crate) pods: PodCounts,
    /// Whether a live pod does not get on.
    pub(crate) stuck: bool,
}

impl Headcount {
    /// What stays charged once everything on its way out is gone.
    pub(crate) fn staying(&self, resource: &Resource) -> Amount {
        self.charged.get(resource) - self.leaving.get(resource)
    }
}

/// Counts every pod of the snapshot once.
pub(crate) fn take(snapshot: &Snapshot) -> Census<'_> {
    let mut census = Census::default();
    for (name, namespace) in &snapshot.namespaces {
        let headcount = count(snapshot, namespace, &mut census.bound_to);
        census.namespaces.insert(name, headcount);
    }
    census
}

fn count<'a>(
    snapshot: &Snapshot,
    namespace: &'a NamespaceState,
    bound_to: &mut HashMap<&'a NodeName, Amounts>,
) -> Headcount {
    let mut headcount = Headcount::default();
    for pod in namespace.pods.iter().filter(|pod| pod.is_charged()) {
        headcount.charged.add_all(pod.requests());
        if let Some(node) = &pod.node {
            headcount.bound.add_all(pod.requests());
            bound_to.entry(node).or_default().add_all(pod.requests());
        }
        if !snapshot.frees_room(pod) || (pod.immunity.is_some() && !pod.is_terminating()) {
            headcount.untakeable.add_all(pod.requests());
        }
        headcount.stuck |= pod.stuck.is_some() && !pod.is_terminating();
        let counter = if pod.is_terminating() {
            headcount.leaving.add_all(pod.requests());
            &mut headcount.pods.terminating
        } else if pod.phase == Phase::Running {
            &mut headcount.pods.running
        } else {
            &mut headcount.pods.pending
        };
        *counter = counter.saturating_add(1);
    }
    headcount
}
