//! Forests after one edit, and the queues that are better off then.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::QueueName;

use crate::forest::{self, Branch, Forest, Grain, grow};

/// What every queue deserves.
pub(crate) type Deserved = BTreeMap<QueueName, Amounts>;

pub(crate) fn deserved(forest: &Forest) -> Deserved {
    forest.plan().queues.into_iter().map(|(name, queue)| (name, queue.deserved)).collect()
}

/// A queue of `before`, none of `except`, that deserves more of anything in `after`.
pub(crate) fn raised(before: &Deserved, after: &Deserved, except: &[QueueName]) -> Option<QueueName> {
    before
        .iter()
        .find(|(name, was)| !except.contains(name) && !after[name].fits_in(was))
        .map(|(name, _)| name.clone())
}

/// The names on the way from the top to the queue that `is` says, itself the last.
pub(crate) fn path_to(roots: &[Branch], is: &dyn Fn(&Branch) -> bool) -> Vec<QueueName> {
    for root in roots {
        let below = path_to(&root.children, is);
        if is(root) || !below.is_empty() {
            return std::iter::once(root.name.clone()).chain(below).collect();
        }
    }
    Vec::new()
}

/// `added` as the child of one of the queues of `forest`, or at its top, and the names of those above it.
pub(crate) fn with(forest: &Forest, added: &Branch, place: Index) -> (Forest, Vec<QueueName>) {
    let parents: Vec<QueueName> =
        forest.flat().into_iter().filter(|one| one.is_parent()).map(|one| one.name.clone()).collect();
    let mut grown = forest.clone();
    let Some(parent) = parents.get(place.index(parents.len() + 1)) else {
        grown.roots.push(added.clone());
        return (grown, Vec::new());
    };
    grown.change(|branch| {
        if branch.name == *parent {
            branch.children.push(added.clone());
        }
    });
    (grown, path_to(&forest.roots, &|branch| branch.name == *parent))
}

/// The same forest with more to share: cpu, memory and gpus.
pub(crate) fn with_more(forest: &Forest, more: [i128; 3]) -> Forest {
    let mut larger = forest.clone();
    for (resource, more) in [Resource::Cpu, Resource::Memory, forest::gpu()].into_iter().zip(more) {
        larger.capacity.add(&resource, Amount::new(more));
    }
    larger
}

/// The same forest where none of `names` has a limit.
pub(crate) fn without_limits(forest: &Forest, names: &[QueueName]) -> Forest {
    let mut open = forest.clone();
    open.change(|branch| {
        if names.contains(&branch.name) {
            branch.queue.limit = Bounds::new();
        }
    });
    open
}

pub(crate) fn some_leaf(forest: &Forest, which: Index) -> Option<QueueName> {
    let leaves: Vec<&Branch> = forest.flat().into_iter().filter(|branch| !branch.is_parent()).collect();
    (!leaves.is_empty()).then(|| leaves[which.index(leaves.len())].name.clone())
}

/// The same forest where the leaf `name` asks for everything.
pub(crate) fn greedy(forest: &Forest, name: &QueueName) -> Forest {
    let mut greedy = forest.clone();
    greedy.change(|branch| {
        if branch.name == *name {
            branch.queue.request = forest::everything();
        }
    });
    greedy
}

/// One more leaf, its name not taken.
pub(crate) fn newcomer(grain: Grain) -> impl Strategy<Value = Branch> {
    grow::leaf(grain).prop_map(|mut leaf| {
        let name = format!("{}-new", leaf.name.name);
        leaf.name = QueueName::new(name.as_str(), name.as_str());
        leaf
    })
}
