//! From Queues to the tree.

use std::collections::{BTreeMap, BTreeSet};

use super::{Branch, BranchId, BranchMap, Tree, stall};
use crate::names::{Namespace, QueueName};
use crate::plan::{Reach, Stall};
use crate::snapshot::{Acceptance, NamespaceState, Queue, ReclaimFrom, Snapshot};

/// Sorts the Queues into a tree. A Queue without a place in it is stalled, with a reason, and harms no other.
///
/// The oldest leaf of a namespace governs it. An invalid oldest one is not replaced by the next: two
/// administrators disagreeing about a namespace must not change its share by one of them making a typing error.
pub(crate) fn grow(snapshot: &Snapshot) -> Tree<'_> {
    let (roots, leaves, stalled) = <_>::default();
    let mut tree = Tree { branches: BranchMap::empty(), roots, leaves, stalled };
    let mut known: BTreeMap<QueueName, (&Namespace, &Queue)> = BTreeMap::new();
    for (namespace, state) in &snapshot.namespaces {
        let oldest = state.governing();
        for queue in &state.queues {
            let name = QueueName::new(namespace.clone(), queue.name.clone());
            let second = oldest.filter(|oldest| queue.children.is_none() && oldest.uid != queue.uid);
            let trouble = second.map(|oldest| stall::taken(queue, oldest)).or_else(|| stall::of_spec(queue));
            match trouble.or_else(|| stall::kueue(queue, state)) {
                Some(stall) => {
                    tree.stalled.insert(name, stall);
                }
                None => {
                    known.insert(name, (namespace, queue));
                }
            }
        }
    }

    let placed = place(snapshot, &known, &mut tree.stalled);
    let mut by_path: Vec<(Vec<&QueueName>, &QueueName)> =
        placed.iter().map(|name| (path(name, &known), *name)).collect();
    by_path.sort();
    let mut at: BTreeMap<&QueueName, BranchId> = BTreeMap::new();
    for (_, name) in by_path {
        let Some((namespace, queue)) = known.get(name) else { continue };
        let parent = queue.parent.as_ref().and_then(|parent| at.get(parent).copied());
        let state = snapshot.namespaces.get(namespace).filter(|_| queue.children.is_none());
        let above = parent.map(|parent| &tree.branches[parent]);
        let inherited = above.map(|parent| parent.eviction).unwrap_or_default();
        let bound =
            above.map_or_else(|| Reach::of_operator(&snapshot.settings), |parent| parent.reach.clone());
        let takes_nothing = std::iter::successors(Some(name), |name| known.get(*name)?.1.parent.as_ref())
            .filter_map(|name| known.get(name))
            .any(|(_, queue)| queue.reclaim.from == ReclaimFrom::Nothing);
        let id = tree.branches.push(Branch {
            name: name.clone(),
            queue,
            parent,
            children: Vec::new(),
            foreign: state.map(|state| &state.foreign_quotas),
            eviction: queue.eviction.or(inherited),
            reach: bound.below(name, queue, snapshot.now),
            // A leaf that takes nothing is a fence around itself alone.
            is_fence: queue.reclaim.from == ReclaimFrom::Subtree
                || (takes_nothing && queue.children.is_none()),
        });
        parent.map_or(&mut tree.roots, |parent| &mut tree.branches[parent].children).push(id);
        at.insert(name, id);
        if queue.children.is_none() {
            tree.leaves.insert(namespace, id);
        }
    }
    tree
}

/// From the root down to `name`; ends because [`place`] has left no circles.
fn path<'a>(name: &'a QueueName, known: &'a BTreeMap<QueueName, (&Namespace, &Queue)>) -> Vec<&'a QueueName> {
    let parent = |name: &&'a QueueName| known.get(*name).and_then(|(_, queue)| queue.parent.as_ref());
    let mut path: Vec<&QueueName> = std::iter::successors(Some(name), parent).collect();
    path.reverse();
    path
}

/// The queues whose chain of parents ends well; the others are stalled.
///
/// Iterative, each queue looked at once: chains may be of any length.
fn place<'a>(
    snapshot: &Snapshot,
    known: &'a BTreeMap<QueueName, (&Namespace, &Queue)>,
    stalled: &mut BTreeMap<QueueName, Stall>,
) -> BTreeSet<&'a QueueName> {
    let mut placed: BTreeSet<&QueueName> = BTreeSet::new();
    for start in known.keys() {
        let mut chain: Vec<&QueueName> = Vec::new();
        let mut on_chain: BTreeSet<&QueueName> = BTreeSet::new();
        let mut next = Some(start);
        // Up until something is known: a root, a queue that is placed, one that is stalled, or a circle.
        let mut closed_by = None;
        while let Some(name) = next {
            if placed.contains(name) || stalled.contains_key(name) || !known.contains_key(name) {
                break;
            }
            if !on_chain.insert(name) {
                closed_by = Some(name);
                break;
            }
            chain.push(name);
            next = known.get(name).and_then(|(_, queue)| queue.parent.as_ref());
        }
        let mut in_circle = closed_by.is_some();
        // Down again, each queue by what is known of its parent.
        for name in chain.into_iter().rev() {
            let Some((namespace, queue)) = known.get(name) else { continue };
            let Some(parent) = &queue.parent else {
                placed.insert(name);
                continue;
            };
            let trouble = if in_circle {
                Some(stall::cycle(queue, parent))
            } else if stalled.contains_key(parent) {
                Some(stall::parent_stalled(queue, parent))
            } else {
                match known.get(parent) {
                    None => Some(stall::not_found(queue, parent)),
                    Some((parents_namespace, above)) => {
                        let state = snapshot.namespaces.get(*namespace);
                        let accepted =
                            state.is_some_and(|state| accepts(above, parents_namespace, namespace, state));
                        (!accepted).then(|| stall::not_accepting(queue, parent, above.children.is_some()))
                    }
                }
            };
            match trouble {
                Some(trouble) => {
                    stalled.insert(name.clone(), trouble);
                }
                None => {
                    placed.insert(name);
                }
            }
            // The circle ends where it was closed; what leads into it hangs below a stalled queue.
            if closed_by == Some(name) {
                in_circle = false;
            }
        }
    }
    placed
}

fn accepts(
    parent: &Queue,
    parents_namespace: &Namespace,
    namespace: &Namespace,
    state: &NamespaceState,
) -> bool {
    match &parent.children {
        None => false,
        Some(Acceptance::Same) => parents_namespace == namespace,
        Some(Acceptance::All) => true,
        Some(Acceptance::Selector(selector)) => selector.matches(&state.labels),
    }
}
