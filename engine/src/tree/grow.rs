//! From Queues to the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::successors;

use super::stall::{self, Trouble};
use super::{Branch, BranchId, BranchMap, Tree};
use crate::keyed::KeyedMap;
use crate::names::{Namespace, QueueName};
use crate::plan::{Reach, Stall};
use crate::snapshot::{Acceptance, NamespaceState, Queue, ReclaimFrom, Snapshot};

/// Sorts the Queues into a tree. A Queue without a place in it is stalled, with a reason, and harms no other.
///
/// The oldest leaf of a namespace governs it. An invalid oldest one is not replaced by the next: two
/// administrators disagreeing about a namespace must not change its share by one of them making a typing error.
///
/// Each queue is looked at once, without recursion: chains of parents may be of any length.
pub(crate) fn grow(snapshot: &Snapshot) -> Tree<'_> {
    let (roots, leaves, stalled) = <_>::default();
    let tree = Tree { branches: BranchMap::empty(), roots, leaves, stalled };
    let mut growing = Growing { snapshot, tree, found: BranchMap::empty() };
    growing.find();
    for start in growing.link() {
        growing.descend(start, None);
    }
    growing.stall_circles();
    growing.tree
}

/// A Queue whose own spec allows it a place. Its id here is not that of its branch.
struct Found<'a> {
    name: QueueName,
    namespace: &'a Namespace,
    state: &'a NamespaceState,
    queue: &'a Queue,
    /// Its parent, if that was found.
    parent: Option<BranchId>,
    /// By name.
    children: Vec<BranchId>,
    /// Whether it has a place, or is stalled.
    is_settled: bool,
}

/// A place in the tree.
#[derive(Clone, Copy)]
struct Place {
    id: BranchId,
    /// Whether the queue or one above it takes nothing.
    takes_nothing: bool,
}

/// The tree while it grows.
struct Growing<'a> {
    snapshot: &'a Snapshot,
    tree: Tree<'a>,
    found: BranchMap<Found<'a>>,
}

impl Growing<'_> {
    /// Finds the Queues whose own specs allow them a place, by name; the others are stalled.
    fn find(&mut self) {
        for (namespace, state) in &self.snapshot.namespaces {
            let oldest = state.governing();
            let by_name: BTreeMap<&str, &Queue> =
                state.queues.iter().map(|queue| (&*queue.name, queue)).collect();
            for queue in by_name.into_values() {
                let name = QueueName::new(namespace.clone(), queue.name.clone());
                let second = oldest.filter(|oldest| queue.children.is_none() && oldest.uid != queue.uid);
                let trouble = second.map(stall::taken);
                let trouble =
                    trouble.or_else(|| stall::of_spec(queue)).or_else(|| stall::kueue(queue, state));
                if let Some(trouble) = trouble {
                    self.stall(name, queue, trouble);
                } else {
                    let (parent, children, is_settled) = <_>::default();
                    self.found.push(Found { name, namespace, state, queue, parent, children, is_settled });
                }
            }
        }
    }

    /// Finds every parent. Those without one, because they name none or it was not found.
    fn link(&mut self) -> Vec<BranchId> {
        let names = self.found.iter().map(|(at, found)| (found.name.clone(), at));
        let by_name: KeyedMap<QueueName, BranchId> = names.collect();
        let mut starts = Vec::new();
        for at in self.found.ids() {
            let parent = self.found[at].queue.parent.as_ref().and_then(|parent| by_name.get(parent)).copied();
            self.found[at].parent = parent;
            parent.map_or(&mut starts, |parent| &mut self.found[parent].children).push(at);
        }
        starts
    }

    fn stall(&mut self, name: QueueName, queue: &Queue, (reason, message): Trouble) {
        let (uid, generation) = (queue.uid.clone(), queue.generation);
        self.tree.stalled.insert(name, Stall { uid, generation, reason, message: message.into() });
    }

    /// Settles the queue at `start`, which stands below `above`, and those below it.
    fn descend(&mut self, start: BranchId, above: Option<Place>) {
        let mut next = vec![(start, above)];
        while let Some((at, above)) = next.pop() {
            if std::mem::replace(&mut self.found[at].is_settled, true) {
                continue;
            }
            let place = match self.trouble(at, above) {
                Some(trouble) => {
                    self.stall(self.found[at].name.clone(), self.found[at].queue, trouble);
                    None
                }
                None => Some(self.place(at, above)),
            };
            next.extend(self.found[at].children.iter().rev().map(|child| (*child, place)));
        }
    }

    /// What keeps the queue at `at` from a place below `above`.
    fn trouble(&self, at: BranchId, above: Option<Place>) -> Option<Trouble> {
        let found = &self.found[at];
        let named = found.queue.parent.as_ref()?;
        match found.parent.map(|parent| &self.found[parent]) {
            None if !self.tree.stalled.contains_key(named) => Some(stall::not_found(named)),
            Some(parent) if above.is_some() => {
                (!parent.accepts(found)).then(|| stall::not_accepting(named, parent.queue.children.is_some()))
            }
            _ => Some(stall::parent_stalled(named)),
        }
    }

    /// Adds the queue at `at` below `above`.
    fn place(&mut self, at: BranchId, above: Option<Place>) -> Place {
        let (tree, snapshot) = (&mut self.tree, self.snapshot);
        let Found { name, namespace, state, queue, .. } = &self.found[at];
        let parent = above.map(|above| &tree.branches[above.id]);
        let inherited = parent.map(|parent| parent.eviction).unwrap_or_default();
        let operator = Reach::of_operator(&snapshot.settings);
        let bound = parent.map_or(&operator, |parent| &parent.reach);
        let takes_nothing =
            queue.reclaim.from == ReclaimFrom::Nothing || above.is_some_and(|above| above.takes_nothing);
        let is_leaf = queue.children.is_none();
        let branch = Branch {
            name: name.clone(),
            queue,
            parent: above.map(|above| above.id),
            children: Vec::new(),
            foreign: is_leaf.then_some(&state.foreign_quotas),
            eviction: queue.eviction.or(inherited),
            reach: bound.below(name, queue, snapshot.now),
            // A leaf that takes nothing is a fence around itself alone.
            is_fence: queue.reclaim.from == ReclaimFrom::Subtree || (takes_nothing && is_leaf),
        };
        let id = tree.branches.push(branch);
        above.map_or(&mut tree.roots, |above| &mut tree.branches[above.id].children).push(id);
        if is_leaf {
            tree.leaves.insert(namespace, id);
        }
        Place { id, takes_nothing }
    }

    /// Stalls those that are left: each chain of parents without an end leads into a circle.
    fn stall_circles(&mut self) {
        for start in self.found.ids() {
            let mut walked = BTreeSet::new();
            let mut at = start;
            while !self.found[at].is_settled && walked.insert(at) {
                at = self.found[at].parent.unwrap_or(at);
            }
            if self.found[at].is_settled {
                continue;
            }
            let upwards = successors(self.found[at].parent, |above| self.found[*above].parent);
            let circle: Vec<BranchId> = upwards.take_while(|above| *above != at).chain([at]).collect();
            for member in &circle {
                let found = &mut self.found[*member];
                found.is_settled = true;
                let (name, queue) = (found.name.clone(), found.queue);
                if let Some(parent) = &queue.parent {
                    self.stall(name, queue, stall::cycle(parent));
                }
            }
            let below = circle.iter().flat_map(|member| &self.found[*member].children).copied();
            for below in below.collect::<Vec<_>>() {
                self.descend(below, None);
            }
        }
    }
}

impl Found<'_> {
    fn accepts(&self, child: &Found<'_>) -> bool {
        match &self.queue.children {
            None => false,
            Some(Acceptance::Same) => self.namespace == child.namespace,
            Some(Acceptance::All) => true,
            Some(Acceptance::Selector(selector)) => selector.matches(&child.state.labels),
        }
    }
}
