//! How much there is to share.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::amounts::{Amounts, Bounds, Resource};
use crate::names::Namespace;
use crate::snapshot::{NamespaceState, Node, Pod, Snapshot};
use crate::total::total;
use crate::tree::Tree;
use crate::usage::{NamespaceUsage, Usage};

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

/// What there is to share, and who else holds some.
pub(crate) struct Capacity {
    /// What the governed queues share: C, per resource, never below nothing.
    ///
    /// The nodes' contributions and what may still be added to them, minus what namespaces without a share hold.
    pub(crate) shared: Amounts,
    /// The same as far as quotas may grow into it: of a node that counts, what it offers and no more.
    ///
    /// More than that is bound to a node that offers less than it did; or it only looks so, because a pod that is gone is
    /// still seen beside the one that has its room now.
    pub(crate) offered: Amounts,
    /// The requests of bound pods, by namespace that is no leaf; namespaces without such pods are left out.
    pub(crate) unmanaged: BTreeMap<Namespace, Amounts>,
}

impl Capacity {
    /// What there is of `resources`.
    pub(crate) fn of(
        snapshot: &Snapshot,
        usage: &Usage<'_>,
        tree: &Tree<'_>,
        resources: &[Resource],
    ) -> Self {
        let mut unmanaged = BTreeMap::new();
        let mut held = Amounts::new();
        for ((name, namespace), namespace_usage) in snapshot.namespaces.iter().zip(usage.namespaces.values())
        {
            if tree.leaves.contains_key(name) {
                continue;
            }
            held.add_all(&held_in(namespace, namespace_usage));
            let bound = namespace_usage.bound.of(resources);
            if bound.iter().any(|(_, amount)| amount.is_positive()) {
                unmanaged.insert(name.clone(), bound);
            }
        }
        let beside = |all: Amounts| all.less(&held).of(resources);
        let shared = beside(of_nodes(snapshot, usage, |node, bound| {
            let is_within = bound.fits_in(&node.allocatable);
            if is_within { Cow::Borrowed(&node.allocatable) } else { Cow::Owned(node.allocatable.max(bound)) }
        }));
        let offered = beside(of_nodes(snapshot, usage, |node, _| Cow::Borrowed(&node.allocatable)));
        Self { shared, offered, unmanaged }
    }
}

/// What nodes bring, and what may be added, where `contribution` says what a node that counts brings with so much bound to it.
fn of_nodes(
    snapshot: &Snapshot,
    usage: &Usage<'_>,
    contribution: impl for<'a> Fn(&'a Node, &Amounts) -> Cow<'a, Amounts>,
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
    capacity
}

/// What a namespace without a share holds.
///
/// An unmanaged one holds its pods that are *bound* to nodes; pending pods would let one absurd pod empty C. One whose quota
/// still counts as granted ([`NamespaceState::granting_quota`]) holds what that quota may let in, or what is charged if that
/// is more, and what a Queue that is not seen is owed. In Gate mode, where the quota names the limit, it holds what was granted:
/// no gate is removed for more. Pods that wait gated hold nothing.
fn held_in(namespace: &NamespaceState, namespace_usage: &NamespaceUsage) -> Amounts {
    let mut held = namespace_usage.bound.clone();
    if let Some(quota) = namespace.granting_quota() {
        let most = if namespace.is_in_gate_mode() { quota.allocated().clone() } else { quota.ceilings() };
        let gated = namespace.pods.iter().filter(|pod| pod.is_gated());
        let charged = namespace_usage.charged.less(&total(gated.map(Pod::requests)));
        for (resource, ceiling) in most.iter() {
            held.set(resource, ceiling.max(charged.get(resource)));
        }
        // Pods of others went for a Queue that is not seen.
        if namespace.governing().is_none() {
            held.add_all(&quota.owed);
        }
    }
    held
}
