//! The queues of a plan as a tree.

use std::collections::BTreeMap;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, QueuePlan};

/// Every queue with its depth, parents before their children, siblings by name.
pub(crate) fn in_order(plan: &Plan) -> Vec<(usize, &QueueName, &QueuePlan)> {
    let mut children: BTreeMap<Option<&QueueName>, Vec<(&QueueName, &QueuePlan)>> = BTreeMap::new();
    for (name, queue) in &plan.queues {
        children.entry(queue.parent.as_ref()).or_default().push((name, queue));
    }
    let mut ordered = Vec::with_capacity(plan.queues.len());
    // A stack, because trees may be deeper than the call stack; reversed, because it gives the last one first.
    let mut waiting: Vec<(usize, &QueueName, &QueuePlan)> = Vec::new();
    let mut next = Some((0_usize, None));
    while let Some((depth, parent)) = next {
        let siblings = children.remove(&parent).unwrap_or_default();
        waiting.extend(siblings.into_iter().rev().map(|(name, queue)| (depth, name, queue)));
        next = waiting.pop().map(|(depth, name, queue)| {
            ordered.push((depth, name, queue));
            (depth.saturating_add(1), Some(name))
        });
    }
    ordered
}
