//! What nodes could run, and what they have free.
//!
//! A model of kube-scheduler that knows resources, selectors, required affinity and taints. What it does not know
//! (spread, volumes, pod affinity) it cannot mistake for a reason to evict: a pod that the model sees room for evicts
//! no pod.

mod resources;

pub(crate) use resources::{At, NodeResources};

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::snapshot::{Shape, Snapshot};
use crate::usage::Usage;

/// The nodes that count; what is asked of them is found out once.
pub(crate) struct Nodes<'a> {
    usage: &'a Usage<'a>,
    /// Which shapes some node could run if it were empty.
    runnable: RefCell<FxHashMap<*const Shape, bool>>,
    /// What each has free now.
    resources: OnceCell<NodeResources<'a>>,
}

impl<'a> Nodes<'a> {
    pub(crate) fn new(usage: &'a Usage<'a>) -> Self {
        Self { usage, runnable: RefCell::default(), resources: OnceCell::new() }
    }

    /// Whether some node could run a pod of this shape if it were empty.
    pub(crate) fn could_run(&self, shape: &Arc<Shape>) -> bool {
        let mut runnable = self.runnable.borrow_mut();
        *runnable.entry(Arc::as_ptr(shape)).or_insert_with(|| self.snapshot().could_run(shape))
    }

    /// The snapshot that they are of.
    pub(crate) fn snapshot(&self) -> &'a Snapshot {
        self.usage.snapshot
    }

    fn resources(&self) -> &NodeResources<'a> {
        self.resources.get_or_init(|| NodeResources::now(self.usage))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.resources().len()).unwrap_or(u32::MAX)
    }

    /// Whether a node has room for a pod of this shape, and may run it.
    pub(crate) fn have_room(&self, shape: &Shape) -> bool {
        self.resources().tightest(shape, None).is_some()
    }
}
