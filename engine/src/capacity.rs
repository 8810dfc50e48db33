//! How much there is to share.

use std::collections::BTreeMap;

use crate::amounts::{Amount, Amounts, Bounds, Resource};
use crate::names::Namespace;
use crate::snapshot::{Node, Snapshot};
use crate::tree::Tree;
use crate::usage::Usage;

/// The resources that are governed: those configured, or cpu, memory and whatever else a node offers.
///
/// A resource that a quota of ours names stays governed when the last node that offers it is away: dropping the
/// key would open the namespace.
pub(crate) fn governed(snapshot: &Snapshot) -> Vec<Resource> {
    if !snapshot.settings.resources.is_empty() {
        return snapshot.settings.resources.iter().cloned().collect();
    }
    let mut resources = vec![Resource::Cpu, Resource::Memory];
    let offered = snapshot.nodes.values().flat_map(|node| node.allocatable.resources());
    let offered = offered.chain(snapshot.settings.expandable.resources());
    let written = snapshot.namespaces.values().filter_map(|namespace| namespace.granting_quota());
    let written =
        written.flat_map(|quota| quota.hard.iter().chain(quota.granted.iter().flat_map(Bounds::iter)));
    let written = written.map(|(resource, _)| resource);
    for resource in offered.chain(written) {
        if let Err(at) = resources.binary_search(resource) {
            resources.insert(at, resource.clone());
        }
    }
    resources
}

/// What the governed queues share: C, per resource, never below nothing.
///
/// The nodes' contributions and what may still be added to them, minus what namespaces without a share hold. An unmanaged
/// namespace holds its pods that are *bound* to nodes; pending pods would let one absurd pod empty C. A namespace whose quota
/// still counts as granted ([`NamespaceState::granting_quota`](crate::snapshot::NamespaceState::granting_quota)) holds what
/// that quota may let in, or what is charged if that is more, and what a Queue that is not seen is
/// owed.
pub(crate) fn shared(snapshot: &Snapshot, usage: &Usage<'_>, tree: &Tree<'_>) -> Amounts {
    all(snapshot, usage, tree, |node, bound| node.allocatable.max(bound))
}

/// The same as far as quotas may grow into it: of a node that counts, what it offers and no more.
///
/// More than that is bound to a node that offers less than it did; or it only looks so, because a pod that is gone is
/// still seen beside the one that has its room now.
pub(crate) fn offered(snapshot: &Snapshot, usage: &Usage<'_>, tree: &Tree<'_>) -> Amounts {
    all(snapshot, usage, tree, |node, _| node.allocatable.clone())
}

/// The requests of bound pods, by namespace that is no leaf of `tree`; namespaces without such pods are left out.
pub(crate) fn unmanaged(
    usage: &Usage<'_>,
    tree: &Tree<'_>,
    resources: &[Resource],
) -> BTreeMap<Namespace, Amounts> {
    let others = usage.namespaces.iter().filter(|(name, _)| !tree.leaves.contains_key(*name));
    let bound = others.map(|(name, usage)| (Namespace::clone(name), usage.bound.of(resources)));
    bound.filter(|(_, bound)| bound.iter().any(|(_, amount)| amount.is_positive())).collect()
}

/// Contributions less what others hold, where `contribution` says what a node that counts brings with so much bound to it.
fn all(
    snapshot: &Snapshot,
    usage: &Usage<'_>,
    tree: &Tree<'_>,
    contribution: impl Fn(&Node, &Amounts) -> Amounts,
) -> Amounts {
    let mut capacity = Amounts::new();
    for (node, bound) in snapshot.nodes.values().zip(usage.nodes.bound_to_all()) {
        if node.counts {
            capacity.add_all(&contribution(node, bound));
        } else {
            capacity.add_all(bound);
        }
    }
    // A node that is gone leaves with its pods, never before them.
    for bound in usage.nodes.bound_to_nothing() {
        capacity.add_all(bound);
    }
    // What may still be added counts as well; but a cluster without any node is one that is not seen.
    if capacity.iter().any(|(_, amount)| amount.is_positive()) {
        capacity.add_all(&snapshot.settings.expandable);
    }
    for (name, namespace) in &snapshot.namespaces {
        let Some(namespace_usage) = usage.namespaces.get(name) else { continue };
        if tree.leaves.contains_key(name) {
            continue;
        }
        capacity.subtract_all(&namespace_usage.bound);
        if let Some(quota) = namespace.granting_quota() {
            for (resource, ceiling) in quota.ceilings().iter() {
                let held = ceiling.max(namespace_usage.charged.get(resource));
                capacity.add(resource, namespace_usage.bound.get(resource) - held);
            }
            // Pods of others went for a Queue that is not seen.
            if namespace.governing().is_none() {
                capacity.subtract_all(&quota.owed);
            }
        }
    }
    capacity.iter().map(|(resource, amount)| (resource.clone(), Amount::or_zero(amount))).collect()
}
