//! How much work one plan does for each queue.
//!
//! A tenant chooses how many sizes, placements and priorities its pods have, and each of them is looked for on all nodes. So
//! looks at nodes and candidates are counted by the queue that they are for. Once a plan has taken [`MOST_LOOKS`], the queues
//! that took more than an equal part get no more: their other pods take free quota and evict no pod in this plan.
//!
//! *Why no clock:* with a deadline by time, equal snapshots could give different plans on different machines.

use std::collections::BTreeMap;

use crate::tree::BranchId;

/// The looks of a plan for all queues together: a few seconds on one core.
const MOST_LOOKS: u64 = 5_000_000;

/// The looks so far, by leaf; those for pods of unmanaged namespaces have no leaf.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// An equal part for every queue that needs room.
    part: u64,
    all: u64,
    spent: BTreeMap<Option<BranchId>, u64>,
}

impl Work {
    /// For a plan in which so many queues need room.
    pub(super) fn for_queues(queues: usize) -> Self {
        let queues = u64::try_from(queues).unwrap_or(u64::MAX).saturating_add(1);
        Self { part: MOST_LOOKS.checked_div(queues).unwrap_or_default(), all: 0, spent: BTreeMap::new() }
    }

    /// Whether the leaf at `at` gets no more looks.
    pub(super) fn is_spent(&self, at: Option<BranchId>) -> bool {
        self.all >= MOST_LOOKS && self.spent.get(&at).is_some_and(|spent| *spent > self.part)
    }

    /// Counts looks for the leaf at `at`.
    pub(super) fn spend(&mut self, at: Option<BranchId>, looks: u64) {
        self.all = self.all.saturating_add(looks);
        let spent = self.spent.entry(at).or_default();
        *spent = spent.saturating_add(looks);
    }
}
