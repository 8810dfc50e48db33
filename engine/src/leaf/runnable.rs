//! Whether some node could run a pod.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::snapshot::{Shape, Snapshot};

/// Which shapes some node that counts could run if it were empty; each is looked at once.
pub(crate) struct Runnable<'a> {
    snapshot: &'a Snapshot,
    known: RefCell<FxHashMap<*const Shape, bool>>,
}

impl<'a> Runnable<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, known: RefCell::new(FxHashMap::default()) }
    }

    pub(crate) fn could_run(&self, shape: &Arc<Shape>) -> bool {
        let mut known = self.known.borrow_mut();
        *known.entry(Arc::as_ptr(shape)).or_insert_with(|| self.snapshot.could_run(shape))
    }
}
