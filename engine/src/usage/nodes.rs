//! What every node carries.

use rustc_hash::FxHashMap;

use super::alike::Alike;
use crate::amounts::Amounts;
use crate::keyed::KeyedMap;
use crate::names::NodeName;
use crate::snapshot::{Node, Pod, Snapshot};

/// A node as the pods bound to it name it.
#[derive(Debug)]
struct NodeUsage<'a> {
    /// Whether the node is there and counts.
    counts: bool,
    /// The pods of it that are not part of its sum yet.
    last: Alike<'a>,
}

/// What every node carries. Only ever summed or looked up, so that its order cannot reach a decision.
#[derive(Debug, Default)]
pub(crate) struct NodesUsage<'a> {
    all: Vec<NodeUsage<'a>>,
    /// What the pods of each request; apart, so that what each pod needs to be counted takes little room.
    bound: Vec<Amounts>,
    /// How many exist, before all others.
    existing: usize,
    by_name: KeyedMap<&'a NodeName, usize>,
    /// Where a name lies: the pods of a node share its name, which so has to be read only once.
    by_address: FxHashMap<*const u8, usize>,
}

impl<'a> NodesUsage<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let all = snapshot.nodes.values();
        let all: Vec<_> = all.map(|node| NodeUsage { counts: node.counts, last: Alike::default() }).collect();
        let by_name = snapshot.nodes.keys().enumerate().map(|(at, name)| (name, at)).collect();
        let (bound, existing) = (vec![Amounts::new(); all.len()], all.len());
        Self { all, bound, existing, by_name, by_address: FxHashMap::default() }
    }

    /// Counts `pod` on the node called `name`; whether that node is there and counts.
    pub(super) fn carry(&mut self, name: &'a NodeName, pod: &'a Pod) -> bool {
        let Self { all, bound, by_name, by_address, .. } = self;
        let address = name.as_str().as_ptr();
        let known = by_address.get(&address).copied();
        let at = known.unwrap_or_else(|| {
            let at = *by_name.entry(name).or_insert_with(|| {
                all.push(NodeUsage { counts: false, last: Alike::default() });
                bound.push(Amounts::new());
                all.len().saturating_sub(1)
            });
            by_address.insert(address, at);
            at
        });
        let (Some(node_usage), Some(bound)) = (all.get_mut(at), bound.get_mut(at)) else { return true };
        node_usage.last.add(&pod.shape, bound);
        node_usage.counts
    }

    /// Adds up what each carries, once all pods are counted.
    pub(super) fn add_up(&mut self) {
        self.all.iter_mut().zip(&mut self.bound).for_each(|(one, bound)| one.last.close(bound));
    }

    /// Where the node called `name` stands: those that exist stand in the order of their names, before all others.
    pub(crate) fn place(&self, name: &NodeName) -> Option<usize> {
        let known = self.by_address.get(&name.as_str().as_ptr());
        known.or_else(|| self.by_name.get(name)).copied()
    }

    /// What the node called `name` offers beside what the pods bound to it request; less than nothing of what it has lost
    /// since, such as a device that failed.
    pub(crate) fn free(&self, name: &NodeName, node: &Node) -> Amounts {
        let mut free = node.allocatable.clone();
        if let Some(bound) = self.place(name).and_then(|at| self.bound.get(at)) {
            free.subtract_all(bound);
        }
        free
    }

    /// What pods request that are bound to each node that exists, in the order of their names.
    pub(crate) fn bound_to_all(&self) -> impl Iterator<Item = &Amounts> {
        self.bound.iter().take(self.existing)
    }

    /// What pods request that are bound to nodes that are gone.
    pub(crate) fn bound_to_nothing(&self) -> impl Iterator<Item = &Amounts> {
        self.bound.iter().skip(self.existing)
    }
}
