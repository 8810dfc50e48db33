//! How much room every node has, or will have once what is on its way out is gone.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::amounts::{Amount, Amounts, Resource};
use crate::names::NodeName;
use crate::snapshot::{Node, Pod, Shape};
use crate::usage::Usage;

/// A node's place in [`NodeResources`].
pub(crate) type At = usize;

/// The nodes that count, by name, with what each has left.
#[derive(Clone, Debug)]
pub(crate) struct NodeResources<'a> {
    usage: &'a Usage<'a>,
    /// By the place of a node in the usage of nodes its place here.
    places: Rc<[Option<At>]>,
    nodes: Vec<(&'a NodeName, &'a Node)>,
    free: Vec<Amounts>,
    /// Per resource the nodes by what they have left of it: the tightest fit is found without looking at all.
    by_room: BTreeMap<Resource, BTreeSet<(Amount, At)>>,
    /// The nodes that carried more than they offer when they were [settled](Self::settled), with what they had left: less than
    /// nothing of some resource.
    overfull: BTreeMap<At, Amounts>,
    /// Shapes for which no node has room: none will, since room only shrinks, but for nodes that are emptied.
    full: BTreeSet<*const Shape>,
    /// How often it was looked whether a node allows a shape, since that was asked last.
    looks: Cell<u64>,
}

impl<'a> NodeResources<'a> {
    /// No node.
    pub(crate) fn none(usage: &'a Usage<'a>) -> Self {
        let (places, nodes, free, by_room, overfull, full, looks) = <_>::default();
        Self { usage, places, nodes, free, by_room, overfull, full, looks }
    }

    /// What nodes have free now.
    pub(super) fn now(usage: &'a Usage<'a>) -> Self {
        let nodes = usage.snapshot.nodes.iter().filter(|(_, node)| node.counts);
        let nodes: Vec<(&NodeName, &Node)> = nodes.map(|(name, node)| (name, &**node)).collect();
        let free: Vec<Amounts> = nodes.iter().map(|(name, node)| usage.nodes.free(name, node)).collect();
        let mut by_room: BTreeMap<Resource, BTreeSet<(Amount, At)>> = BTreeMap::new();
        for (at, free) in free.iter().enumerate() {
            for (resource, amount) in free.iter() {
                by_room.entry(resource.clone()).or_default().insert((amount, at));
            }
        }
        let mut counting = 0..nodes.len();
        let place = |node: &Arc<Node>| node.counts.then(|| counting.next()).flatten();
        let places = usage.snapshot.nodes.values().map(place).collect();
        Self { places, nodes, free, by_room, ..Self::none(usage) }
    }

    /// What nodes will have free once what is on its way out is gone.
    pub(crate) fn settled(usage: &'a Usage<'a>) -> Self {
        let mut node_resources = Self::now(usage);
        let leaving = |pod: &&Pod| pod.is_terminating() && pod.is_charged();
        let states = usage.snapshot.namespaces.values();
        for pod in states.flat_map(|state| state.pods.iter().filter(leaving)) {
            if let Some(at) = pod.node.as_ref().and_then(|node| node_resources.find(node)) {
                node_resources.give(at, pod.requests());
            }
        }
        let is_overfull = |free: &Amounts| free.iter().any(|(_, amount)| amount < Amount::ZERO);
        let overfull = node_resources.free.iter().enumerate().filter(|(_, free)| is_overfull(free));
        node_resources.overfull = overfull.map(|(at, free)| (at, free.clone())).collect();
        node_resources
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn find(&self, name: &NodeName) -> Option<At> {
        self.places.get(self.usage.nodes.place(name)?).copied().flatten()
    }

    /// What the node lacks for a pod of this shape; none if it could not run one even if it were empty.
    pub(crate) fn shortfall(&self, at: At, shape: &Shape) -> Option<Amounts> {
        let (_, node) = self.nodes.get(at)?;
        self.look();
        let possible = shape.requests.fits_in(&node.allocatable) && self.allows(at, shape);
        possible.then(|| self.free.get(at).map(|free| shape.requests.less(free))).flatten()
    }

    /// How many nodes were looked at since this was asked last.
    pub(crate) fn take_looks(&self) -> u64 {
        self.looks.take()
    }

    fn look(&self) {
        self.looks.set(self.looks.get().saturating_add(1));
    }

    fn allows(&self, at: At, shape: &Shape) -> bool {
        self.nodes.get(at).is_some_and(|(name, node)| node.may_run(name, shape))
    }

    /// How much a pod of this shape prefers the node.
    pub(crate) fn preference(&self, at: At, shape: &Shape) -> i64 {
        let node = self.nodes.get(at);
        node.map(|(name, node)| shape.placement.preference(name.as_str(), &node.labels)).unwrap_or_default()
    }

    /// Finds the node with the least room that a pod of this shape fits on, and takes the room.
    pub(crate) fn reserve(&mut self, shape: &Shape) -> Option<At> {
        let at = self.free_for(shape)?;
        self.take(at, &shape.requests);
        Some(at)
    }

    /// The node with the least room that a pod of this shape fits on.
    ///
    /// The tightest fit leaves large rooms to large pods, so that what was freed for one of them is not cut up.
    pub(crate) fn free_for(&mut self, shape: &Shape) -> Option<At> {
        let key: *const Shape = shape;
        if self.full.contains(&key) {
            return None;
        }
        let found = self.tightest(shape, None);
        if found.is_none() {
            self.full.insert(key);
        }
        found
    }

    /// The same, whatever is known of the shape, and not the node at `beside`.
    pub(crate) fn tightest(&self, shape: &Shape, beside: Option<At>) -> Option<At> {
        // Devices are scarcer than cpu, and cpu than memory.
        let scarcest = shape.requests.iter().max_by_key(|(resource, _)| match resource {
            Resource::Extended(_) => 2,
            Resource::Cpu => 1,
            Resource::Memory => 0,
        });
        let fits = |at: At| {
            self.look();
            let has = |(one, amount): (&Resource, Amount)| {
                self.free.get(at).is_some_and(|free| amount <= free.get(one))
            };
            shape.requests.iter().all(has) && self.allows(at, shape)
        };
        match scarcest {
            None => (0..self.len()).find(|at| Some(*at) != beside && self.allows(*at, shape)),
            Some((resource, amount)) => {
                let by_room = self.by_room.get(resource)?;
                by_room.range((amount, 0)..).map(|(_, at)| *at).find(|at| Some(*at) != beside && fits(*at))
            }
        }
    }

    /// Whether the node carries more than it offers, and more than when it was settled.
    pub(crate) fn is_overfull(&self, at: At) -> bool {
        let before = self.overfull.get(&at);
        let is_less = |(one, amount): (&Resource, Amount)| {
            amount < Amount::ZERO && before.is_none_or(|before| amount < before.get(one))
        };
        self.free.get(at).is_some_and(|free| free.iter().any(is_less))
    }

    /// Takes room on a node.
    pub(crate) fn take(&mut self, at: At, requests: &Amounts) {
        self.change(at, requests, false);
    }

    /// Gives room on a node: a pod goes.
    pub(crate) fn give(&mut self, at: At, requests: &Amounts) {
        self.change(at, requests, true);
    }

    /// Gives room on a node, or takes it.
    pub(crate) fn change(&mut self, at: At, requests: &Amounts, gives: bool) {
        if gives {
            self.full.clear();
        }
        let Some(free) = self.free.get_mut(at) else { return };
        for (resource, amount) in requests.iter() {
            let before = free.get(resource);
            let after = if gives { before + amount } else { before - amount };
            free.set(resource, after);
            let by_room = self.by_room.entry(resource.clone()).or_default();
            by_room.remove(&(before, at));
            if !after.is_zero() {
                by_room.insert((after, at));
            }
        }
    }
}
