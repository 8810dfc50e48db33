//! Random trees of queues in an empty cluster: what shares are made of, and nothing else.

pub(crate) mod grow;
mod print;

use std::sync::Arc;

use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{NodeName, QueueName, QueueUid};
use quotient_engine::plan::Plan;
use quotient_engine::planner::plan;
use quotient_engine::snapshot::{Node, Queue, Snapshot};

pub(crate) use grow::{Grain, forest, gpu};

/// A queue and those below it.
#[derive(Clone)]
pub(crate) struct Branch {
    pub(crate) name: QueueName,
    /// As its administrator wrote it; name, uid and parent are filled in by [`Forest::snapshot`].
    pub(crate) queue: Queue,
    pub(crate) children: Vec<Branch>,
}

/// Everything there is to share, and every queue that shares it.
#[derive(Clone)]
pub(crate) struct Forest {
    pub(crate) capacity: Amounts,
    pub(crate) roots: Vec<Branch>,
}

impl Branch {
    pub(crate) fn is_parent(&self) -> bool {
        self.queue.children.is_some()
    }

    pub(crate) fn limit(&self, resource: &Resource) -> i128 {
        stated(&self.queue.limit, resource).unwrap_or(i128::MAX)
    }

    /// What it asks for in a cluster of `capacity`, by the words of the API.
    pub(crate) fn demand(&self, resource: &Resource, capacity: i128) -> i128 {
        let asked = if self.is_parent() {
            self.children.iter().map(|child| child.demand(resource, capacity)).sum()
        } else {
            stated(&self.queue.request, resource).unwrap_or(0).min(capacity)
        };
        asked.min(self.limit(resource))
    }

    /// The part of it that is guaranteed: its own guarantee or its children's together, within its limit.
    pub(crate) fn floor(&self, resource: &Resource, capacity: i128) -> i128 {
        let promised = stated(&self.queue.guaranteed, resource).unwrap_or(0);
        let own = promised.min(self.demand(resource, capacity));
        let below: i128 = self.children.iter().map(|child| child.floor(resource, capacity)).sum();
        own.max(below).min(self.limit(resource))
    }

    /// It and all below it, parents first.
    pub(crate) fn flat(&self) -> Vec<&Branch> {
        std::iter::once(self).chain(self.children.iter().flat_map(Branch::flat)).collect()
    }

    /// Changes it and all below it, parents first.
    pub(crate) fn change(&mut self, change: &mut dyn FnMut(&mut Branch)) {
        change(self);
        self.children.iter_mut().for_each(|child| child.change(change));
    }

    fn plant(&self, parent: Option<&QueueName>, snapshot: &mut Snapshot) {
        let queue = Queue {
            uid: QueueUid::new(self.name.to_string()),
            name: self.name.name.clone(),
            parent: parent.cloned(),
            ..self.queue.clone()
        };
        let state = snapshot.namespaces.entry(self.name.namespace.clone()).or_default();
        Arc::make_mut(state).queues.push(queue);
        self.children.iter().for_each(|child| child.plant(Some(&self.name), snapshot));
    }
}

impl Forest {
    /// The cluster: one node, and no pod or quota anywhere.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let node = Node { allocatable: self.capacity.clone(), counts: true, ..Node::default() };
        snapshot.nodes.insert(NodeName::from("node"), Arc::new(node));
        self.roots.iter().for_each(|root| root.plant(None, &mut snapshot));
        snapshot
    }

    /// The plan.
    pub(crate) fn plan(&self) -> Plan {
        let plan = plan(&self.snapshot());
        assert!(plan.stalled.is_empty(), "every queue has its place: {:?}", plan.stalled);
        plan
    }

    pub(crate) fn capacity(&self, resource: &Resource) -> i128 {
        self.capacity.get(resource).units()
    }

    /// All queues, parents first.
    pub(crate) fn flat(&self) -> Vec<&Branch> {
        self.roots.iter().flat_map(Branch::flat).collect()
    }

    /// Changes every queue, parents first.
    pub(crate) fn change(&mut self, mut change: impl FnMut(&mut Branch)) {
        self.roots.iter_mut().for_each(|root| root.change(&mut change));
    }
}

/// Siblings by path, whatever order they were made in.
pub(crate) fn in_order(siblings: &[Branch]) -> Vec<&Branch> {
    let mut sorted: Vec<&Branch> = siblings.iter().collect();
    sorted.sort_by_key(|branch| &branch.name);
    sorted
}

fn stated(bounds: &Bounds, resource: &Resource) -> Option<i128> {
    bounds.get(resource).map(Amount::units)
}

/// A claim to everything that there may ever be.
pub(crate) fn everything() -> Bounds {
    [Resource::Cpu, Resource::Memory, gpu()]
        .into_iter()
        .map(|resource| (resource, Amount::new(1 << 110)))
        .collect()
}
