//! What every node carries.

use rustc_hash::FxHashMap;

use super::sum::Sum;
use crate::amounts::Amounts;
use crate::keyed::KeyedMap;
use crate::names::NodeName;
use crate::snapshot::{Node, Snapshot};

/// A node as the pods bound to it name it; what they request is a sum while pods are counted.
#[derive(Debug)]
pub(super) struct NodeUsage<Bound> {
    /// Whether the node is there and counts.
    pub(super) counts: bool,
    /// Whether it is there at all.
    exists: bool,
    /// What its pods request.
    pub(super) bound: Bound,
}

/// What every node carries. Only ever summed or looked up, so that its order cannot reach a decision.
#[derive(Debug, Default)]
pub(crate) struct NodesUsage<'a, Bound = Amounts> {
    all: Vec<NodeUsage<Bound>>,
    by_name: KeyedMap<&'a NodeName, usize>,
    /// Where a name lies: the pods of a node share its name, which so has to be read only once.
    by_address: FxHashMap<*const str, usize>,
}

impl<'a> NodesUsage<'a, Sum<'a>> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let all = snapshot.nodes.values().map(|node| NodeUsage {
            counts: node.counts,
            exists: true,
            bound: Sum::default(),
        });
        let by_name = snapshot.nodes.keys().enumerate().map(|(at, name)| (name, at)).collect();
        Self { all: all.collect(), by_name, by_address: FxHashMap::default() }
    }

    pub(super) fn of(&mut self, name: &'a NodeName) -> Option<&mut NodeUsage<Sum<'a>>> {
        let Self { all, by_name, by_address } = self;
        let address = std::ptr::from_ref(name.as_str());
        let known = by_address.get(&address).copied();
        let at = known.unwrap_or_else(|| {
            let at = *by_name.entry(name).or_insert_with(|| {
                all.push(NodeUsage { counts: false, exists: false, bound: Sum::default() });
                all.len().saturating_sub(1)
            });
            by_address.insert(address, at);
            at
        });
        all.get_mut(at)
    }

    pub(super) fn summed_up(self) -> NodesUsage<'a> {
        let Self { all, by_name, by_address } = self;
        let all = all.into_iter().map(|NodeUsage { counts, exists, bound }| NodeUsage {
            counts,
            exists,
            bound: bound.all(),
        });
        NodesUsage { all: all.collect(), by_name, by_address }
    }
}

impl NodesUsage<'_> {
    /// Where the node called `name` stands: those that exist stand in the order of their names, before all others.
    pub(crate) fn place(&self, name: &NodeName) -> Option<usize> {
        let known = self.by_address.get(&std::ptr::from_ref(name.as_str()));
        known.or_else(|| self.by_name.get(name)).copied()
    }

    /// What the pods bound to the node called `name` request.
    pub(crate) fn bound_to(&self, name: &NodeName) -> Option<&Amounts> {
        self.place(name).and_then(|at| self.all.get(at)).map(|node_usage| &node_usage.bound)
    }

    /// What the node called `name` offers beside that.
    pub(crate) fn free(&self, name: &NodeName, node: &Node) -> Amounts {
        self.bound_to(name).map_or_else(|| node.allocatable.clone(), |bound| node.allocatable.less(bound))
    }

    /// What pods request that are bound to each node that exists, in the order of their names.
    pub(crate) fn bound_to_all(&self) -> impl Iterator<Item = &Amounts> {
        self.all.iter().filter(|node_usage| node_usage.exists).map(|node_usage| &node_usage.bound)
    }

    /// What pods request that are bound to nodes that are gone.
    pub(crate) fn bound_to_nothing(&self) -> impl Iterator<Item = &Amounts> {
        self.all.iter().filter(|node_usage| !node_usage.exists).map(|node_usage| &node_usage.bound)
    }
}
