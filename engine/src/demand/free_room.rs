//! What the nodes that count really have free.

use std::cell::OnceCell;

use crate::amounts::Amounts;
use crate::names::NodeName;
use crate::snapshot::{Node, Shape, Snapshot};
use crate::usage::Usage;

/// The free room on nodes, summed up once something asks for it.
pub(crate) struct FreeRoom<'a> {
    snapshot: &'a Snapshot,
    usage: &'a Usage<'a>,
    nodes: OnceCell<Vec<(&'a NodeName, &'a Node, Amounts)>>,
    /// The most of each resource that any node has free.
    most: OnceCell<Amounts>,
}

impl<'a> FreeRoom<'a> {
    pub(crate) const fn new(snapshot: &'a Snapshot, usage: &'a Usage<'a>) -> Self {
        Self { snapshot, usage, nodes: OnceCell::new(), most: OnceCell::new() }
    }

    fn all(&self) -> &[(&'a NodeName, &'a Node, Amounts)] {
        self.nodes.get_or_init(|| {
            let counting = self.snapshot.nodes.iter().filter(|(_, node)| node.counts);
            let free = |node: &Node, name| match self.usage.nodes.bound_to(name) {
                Some(bound) => node.allocatable.less(bound),
                None => node.allocatable.clone(),
            };
            counting.map(|(name, node)| (name, &**node, free(node, name))).collect()
        })
    }

    /// How many nodes count.
    pub(super) fn nodes(&self) -> u32 {
        u32::try_from(self.all().len()).unwrap_or(u32::MAX)
    }

    /// Whether a node has room for a pod of this shape, and may run it.
    pub(super) fn takes(&self, shape: &Shape) -> bool {
        let most = self
            .most
            .get_or_init(|| self.all().iter().fold(Amounts::new(), |most, (_, _, free)| most.max(free)));
        shape.left_out.is_nothing()
            && shape.requests.fits_in(most)
            && self.all().iter().any(|(name, node, free)| {
                shape.requests.fits_in(free)
                    && shape.placement.allows(name.as_str(), &node.labels, &node.taints)
            })
    }
}
