//! How much there is to share.

use std::collections::{BTreeMap, BTreeSet};

use crate::amounts::{Amounts, Bounds, Resource};
use crate::names::Namespace;
use crate::snapshot::{NamespaceState, Pod, Snapshot};
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
    let always = [Resource::Cpu, Resource::Memory];
    let offered = snapshot.nodes.values().flat_map(|node| node.allocatable.resources());
    let offered = offered.chain(snapshot.settings.expandable.resources());
    let written = snapshot.namespaces.values().filter_map(|namespace| namespace.granting_quota());
    let written =
        written.flat_map(|quota| quota.hard.iter().chain(quota.granted.iter().flat_map(Bounds::iter)));
    let written = written.map(|(resource, _)| resource);
    let all: BTreeSet<&Resource> = always.iter().chain(offered).chain(written).collect();
    all.into_iter().cloned().collect()
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
    pub(crate) fn of(usage: &Usage<'_>, tree: &Tree<'_>, resources: &[Resource]) -> Self {
        let mut unmanaged = BTreeMap::new();
        let mut held = Amounts::new();
        let namespaces = usage.snapshot.namespaces.iter().zip(usage.namespaces.values());
        for ((name, namespace), namespace_usage) in namespaces {
            if tree.leaves.contains_key(name) {
                continue;
            }
            held.add_all(&held_in(namespace, namespace_usage));
            let bound = namespace_usage.bound.of(resources);
            if !bound.is_empty() {
                unmanaged.insert(name.clone(), bound);
            }
        }
        let (offered, beyond) = of_nodes(usage);
        let shared = offered.plus(&beyond).less(&held).of(resources);
        Self { shared, offered: offered.less(&held).of(resources), unmanaged }
    }
}

/// What nodes offer with what may be added, and what is bound beyond that to nodes that count.
fn of_nodes(usage: &Usage<'_>) -> (Amounts, Amounts) {
    let (mut offered, mut beyond) = (Amounts::new(), Amounts::new());
    for (node, bound) in usage.snapshot.nodes.values().zip(usage.nodes.bound_to_all()) {
        if node.counts {
            offered.add_all(&node.allocatable);
            beyond.add_all(&bound.less(&node.allocatable));
        } else {
            offered.add_all(bound);
        }
    }
    // A node that is gone leaves with its pods, never before them.
    for bound in usage.nodes.bound_to_nothing() {
        offered.add_all(bound);
    }
    // What may still be added counts as well; but a cluster without any node is one that is not seen.
    if !(offered.is_empty() && beyond.is_empty()) {
        offered.add_all(&usage.snapshot.settings.expandable);
    }
    (offered, beyond)
}

/// What a namespace without a share holds.
///
/// An unmanaged one holds its pods that are *bound* to nodes; pending pods would let one absurd pod empty C. One whose quota
/// still counts as granted ([`NamespaceState::granting_quota`]) holds what that quota may let in, or what is charged if that
/// is more, and what a Queue that is not seen is owed. In Gate mode, where the quota names the limit, it holds what was granted:
/// no gate is removed for more. The mode of a Queue that is gone is not known, so its quota may name the limit as well. Pods that
/// wait gated hold nothing.
fn held_in(namespace: &NamespaceState, namespace_usage: &NamespaceUsage) -> Amounts {
    let mut held = namespace_usage.bound.clone();
    if let Some(quota) = namespace.granting_quota() {
        let most = match &quota.granted {
            _ if namespace.is_in_gate_mode() => quota.allocated().clone(),
            Some(granted) if namespace.vacant => granted.max(&quota.unconfirmed),
            _ => quota.ceilings(),
        };
        let gated = total(namespace.gated_pods().map(Pod::requests));
        let charged = namespace_usage.charged.less(&gated);
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
