//! Queues in the order of their tree.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::names::QueueName;

/// A queue with its name and the name of its parent.
pub(crate) type InTree<'q, Q> = (&'q QueueName, Option<QueueName>, Q);

/// Every queue with its depth, parents before their children, siblings as they come. A queue whose parent is not among them
/// stands at the top.
pub(crate) fn in_tree_order<Q>(queues: Vec<InTree<'_, Q>>) -> Vec<(usize, Q)> {
    let known: BTreeSet<&QueueName> = queues.iter().map(|(name, ..)| *name).collect();
    let mut children: BTreeMap<Option<QueueName>, Vec<(&QueueName, Q)>> = BTreeMap::new();
    for (name, parent, queue) in queues {
        let parent = parent.filter(|parent| known.contains(parent) && parent != name);
        children.entry(parent).or_default().push((name, queue));
    }
    let mut ordered = Vec::new();
    // A stack, because trees may be deeper than the call stack; reversed, because it gives the last one first.
    let mut waiting: Vec<(usize, (&QueueName, Q))> = Vec::new();
    let mut next = Some((0_usize, None));
    while let Some((depth, parent)) = next {
        let siblings = children.remove(&parent).unwrap_or_default();
        waiting.extend(siblings.into_iter().rev().map(|queue| (depth, queue)));
        next = waiting.pop().map(|(depth, (name, queue))| {
            ordered.push((depth, queue));
            (depth.saturating_add(1), Some(name.clone()))
        });
    }
    // Queues in a circle have no top.
    ordered.extend(children.into_values().flatten().map(|(_, queue)| (0, queue)));
    ordered
}
