//! What nodes could run, and what they really have free.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::amounts::Amounts;
use crate::names::NodeName;
use crate::snapshot::{Node, Shape, Snapshot};
use crate::usage::Usage;

/// The nodes that count; what is asked of them is found out once.
pub(crate) struct Nodes<'a> {
    snapshot: &'a Snapshot,
    usage: &'a Usage<'a>,
    /// Which shapes some node could run if it were empty.
    runnable: RefCell<FxHashMap<*const Shape, bool>>,
    /// What each has free.
    free: OnceCell<Vec<(&'a NodeName, &'a Node, Amounts)>>,
    /// The most of each resource that any node has free.
    most: OnceCell<Amounts>,
}

impl<'a> Nodes<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, usage: &'a Usage<'a>) -> Self {
        let (runnable, free, most) = (RefCell::default(), OnceCell::new(), OnceCell::new());
        Self { snapshot, usage, runnable, free, most }
    }

    /// Whether some node could run a pod of this shape if it were empty.
    pub(crate) fn could_run(&self, shape: &Arc<Shape>) -> bool {
        let mut runnable = self.runnable.borrow_mut();
        *runnable.entry(Arc::as_ptr(shape)).or_insert_with(|| self.snapshot.could_run(shape))
    }

    fn free(&self) -> &[(&'a NodeName, &'a Node, Amounts)] {
        self.free.get_or_init(|| {
            let counting = self.snapshot.nodes.iter().filter(|(_, node)| node.counts);
            counting.map(|(name, node)| (name, &**node, self.usage.nodes.free(name, node))).collect()
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.free().len()).unwrap_or(u32::MAX)
    }

    /// Whether a node has room for a pod of this shape, and may run it.
    pub(crate) fn have_room(&self, shape: &Shape) -> bool {
        let most = || self.free().iter().fold(Amounts::new(), |most, (_, _, free)| most.max(free));
        let takes = |(name, node, free): &(&NodeName, &Node, Amounts)| {
            shape.requests.fits_in(free) && node.may_run(name, shape)
        };
        shape.requests.fits_in(self.most.get_or_init(most)) && self.free().iter().any(takes)
    }
}
