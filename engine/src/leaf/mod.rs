//! A leaf: the queue that governs a namespace, what is there, and what is wanted.

mod backlog;
mod gang_part;
mod holds;
mod pending_units;
mod unit;

use std::cell::OnceCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use backlog::Backlog;
pub(crate) use gang_part::{GangPart, IncompleteGangs};
pub(crate) use pending_units::{Fitting, PendingUnits};
pub(crate) use unit::Unit;

use crate::amounts::{Amounts, Resource};
use crate::candidates::{self, Candidates, GangMinimums};
use crate::demand::Demand;
use crate::keyed::KeyedMap;
use crate::names::OwnerUid;
use crate::nodes::Nodes;
use crate::shares::Wish;
use crate::snapshot::{EvictionPolicy, NamespaceState, Owner, Pod, Shape, Snapshot, Workload};
use crate::total::total;
use crate::tree::{Branch, BranchId, BranchMap, Tree};
use crate::usage::{NamespaceUsage, Usage};

/// The queue that governs a namespace, what is there, and what is wanted.
pub(crate) struct Leaf<'a> {
    pub(crate) at: BranchId,
    branch: &'a Branch<'a>,
    pub(crate) state: &'a NamespaceState,
    pub(crate) namespace_usage: &'a NamespaceUsage,
    pub(crate) demand: Demand<'a>,
    /// How many pods of its gangs still have to run together.
    pub(crate) minimums: GangMinimums<'a>,
    /// Whether its pods are never evicted, by policy.
    pub(crate) never_evicted: bool,
    /// What its pods will hold once all that leave are gone, of the governed resources. Pods that no node could run hold
    /// nothing that others could use.
    pub(crate) staying: Amounts,
    /// What its pods are charged that no node could run.
    pub(crate) unrunnable: Amounts,
    /// The part of `staying` that does not count as demand: pods that had room and never started.
    pub(crate) uncounted: Amounts,
    /// The pods that it lacks, as far as they count and some node could run them; the oldest owner's first, as controllers
    /// know no priority.
    pub(crate) pending: Vec<PendingUnits<'a>>,
    nodes: Rc<Nodes<'a>>,
    owners: OnceCell<KeyedMap<&'a OwnerUid, &'a Owner>>,
    candidates: OnceCell<Candidates<'a>>,
}

impl<'a> Deref for Leaf<'a> {
    type Target = Branch<'a>;

    fn deref(&self) -> &Branch<'a> {
        self.branch
    }
}

impl<'a> Leaf<'a> {
    /// The leaves of the tree; none for parents.
    pub(crate) fn all(
        usage: &'a Usage<'a>,
        tree: &'a Tree<'a>,
        capacity: &Amounts,
        resources: &[Resource],
    ) -> BranchMap<Option<Self>> {
        let nodes = Rc::new(Nodes::new(usage));
        let of_branch = |at: BranchId, branch: &'a Branch<'a>| {
            let namespace = &branch.name.namespace;
            let state = &**usage.snapshot.namespaces.get(namespace)?;
            let namespace_usage = usage.namespaces.get(namespace)?;
            branch.is_leaf().then(|| {
                let demand = Demand::of(branch.queue, state, namespace_usage, capacity, &nodes);
                let unrunnable = unrunnable(state, namespace_usage, &nodes);
                let minimums = GangMinimums::of(state);
                let pending = PendingUnits::all(state, &minimums, &demand, &nodes, resources);
                let never_evicted = branch.eviction.policy == Some(EvictionPolicy::Never);
                Self {
                    at,
                    branch,
                    state,
                    namespace_usage,
                    never_evicted,
                    staying: namespace_usage.all_staying().less(&unrunnable).of(resources),
                    unrunnable,
                    uncounted: uncounted(state, &demand).of(resources),
                    pending,
                    demand,
                    minimums,
                    nodes: Rc::clone(&nodes),
                    owners: OnceCell::new(),
                    candidates: OnceCell::new(),
                }
            })
        };
        tree.branches.map(of_branch)
    }

    /// What it brings to the division of capacity.
    pub(crate) fn wish(&self) -> Wish {
        // Pods that did not start, or that no node could run, are set aside as those of every queue.
        let held = if self.never_evicted { self.staying.less(&self.uncounted) } else { Amounts::new() };
        Wish { asked: self.demand.remember.demand.clone(), held }
    }

    /// What admission will charge it once all that leave are gone, pods that no node could run included.
    pub(crate) fn charged(&self) -> Amounts {
        self.staying.plus(&self.unrunnable)
    }

    /// The owner of one of its pods, if it is known.
    pub(crate) fn owner_of(&self, pod: &Pod) -> Option<&'a Owner> {
        let of = || self.state.owners.iter().map(|owner| (&owner.uid, owner)).collect();
        pod.owner().and_then(|uid| self.owners.get_or_init(of).get(uid).copied())
    }

    /// The workload that created one of its pods, as people know it: the Deployment rather than its ReplicaSet. None for a bare
    /// pod.
    pub(crate) fn workload_of(&self, pod: &'a Pod) -> Option<&'a Workload> {
        let controller = self.owner_of(pod).and_then(|owner| owner.controller.as_deref());
        controller.or(pod.metadata.owner.as_ref())
    }

    /// Its live pods as candidates for an eviction. Those that no node could run leave nothing that others could use.
    pub(crate) fn candidates(&self, snapshot: &'a Snapshot) -> &Candidates<'a> {
        self.candidates.get_or_init(|| {
            let pods = self.state.pods.iter().filter(|pod| pod.is_live() && self.could_run(pod));
            candidates::candidates(self.at, pods, (self.state, &self.minimums), self.eviction, snapshot)
        })
    }

    /// Whether some node could run a pod of this shape.
    pub(crate) fn could_run_shape(&self, shape: &Arc<Shape>) -> bool {
        self.nodes.could_run(shape)
    }

    /// Whether a pod of it is on a node, or some node could run it.
    pub(crate) fn could_run(&self, pod: &Pod) -> bool {
        pod.node.is_some() || self.nodes.could_run(&pod.shape)
    }
}

fn unrunnable(state: &NamespaceState, namespace_usage: &NamespaceUsage, nodes: &Nodes<'_>) -> Amounts {
    if namespace_usage.pods.pending == 0 {
        return Amounts::new();
    }
    let is_unrunnable = |pod: &&Pod| pod.node.is_none() && pod.is_live() && !nodes.could_run(&pod.shape);
    total(state.pods.iter().filter(is_unrunnable).map(Pod::requests))
}

fn uncounted(state: &NamespaceState, demand: &Demand<'_>) -> Amounts {
    if demand.trust.counts_all() {
        return Amounts::new();
    }
    total(state.pods.iter().filter(|pod| pod.is_live() && !demand.trust.counts(pod)).map(Pod::requests))
}
