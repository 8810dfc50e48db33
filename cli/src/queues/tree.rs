//! Queues in the order of their tree.

use std::collections::{BTreeMap, BTreeSet};

use quotient_engine::names::QueueName;

use super::QueueView;

/// Every queue with its depth, parents before their children, siblings by name. A queue whose parent is not among them
/// stands at the top.
pub(crate) fn in_tree_order(views: &[QueueView]) -> Vec<(usize, &QueueView)> {
    let known: BTreeSet<&QueueName> = views.iter().map(|view| &view.name).collect();
    let mut children: BTreeMap<Option<QueueName>, Vec<&QueueView>> = BTreeMap::new();
    for view in views {
        let parent = view.parent().filter(|parent| known.contains(parent) && *parent != view.name);
        children.entry(parent).or_default().push(view);
    }
    let mut ordered = Vec::with_capacity(views.len());
    let mut waiting: Vec<(usize, &QueueView)> = Vec::new();
    push(&mut waiting, 0, children.remove(&None).unwrap_or_default());
    while let Some((depth, view)) = waiting.pop() {
        ordered.push((depth, view));
        let below = children.remove(&Some(view.name.clone())).unwrap_or_default();
        push(&mut waiting, depth.saturating_add(1), below);
    }
    // Queues in a circle have no top.
    let in_circles = children.into_values().flatten().map(|view| (0, view));
    ordered.extend(in_circles);
    ordered
}

/// The first one comes out first.
fn push<'a>(waiting: &mut Vec<(usize, &'a QueueView)>, depth: usize, views: Vec<&'a QueueView>) {
    waiting.extend(views.into_iter().rev().map(|view| (depth, view)));
}
