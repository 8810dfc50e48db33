//! The pods that wait for a node.

use std::cmp::Reverse;

use crate::names::Namespace;
use crate::snapshot::{Pod, Snapshot};

/// The pods of all namespaces that exist and have no node, most important first, as the scheduler takes them.
pub(crate) fn unbound(snapshot: &Snapshot) -> Vec<(&Namespace, &Pod)> {
    let waits = |pod: &&Pod| pod.node.is_none() && pod.is_live();
    let namespaces = snapshot.namespaces.iter();
    let pods =
        namespaces.flat_map(|(name, state)| state.pods.iter().filter(waits).map(move |pod| (name, pod)));
    let mut all: Vec<_> = pods.collect();
    all.sort_by_key(|(namespace, pod)| (Reverse(pod.priority), pod.created, *namespace, &pod.name, &pod.uid));
    all
}
