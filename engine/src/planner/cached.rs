//! A planner that remembers its last plan, for input that is the same as before.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use super::plan;
use crate::names::{Namespace, NodeName};
use crate::plan::Plan;
use crate::snapshot::{GrantGate, NamespaceState, Node, ReclaimGate, Settings, Snapshot, Targets};
use crate::time::Timestamp;

/// [`plan`], and what it said last: the same answer at once as long as nothing that it depends on has changed.
///
/// Nothing has changed where nodes and namespaces are the very same values, not merely equal ones, and the time for
/// another decision ([`Plan::due`]) has not come. Of the snapshot only weak pointers are kept: its owner does
/// not have to copy a namespace to change it, only to move it ([`Arc::make_mut`]), and what is moved lies elsewhere.
#[derive(Debug, Default)]
pub struct Planner {
    last: Option<Last>,
}

/// A plan, and what it was made from.
#[derive(Debug)]
struct Last {
    now: Timestamp,
    settings: Settings,
    grant_gate: GrantGate,
    reclaim_gate: ReclaimGate,
    targets: Option<Arc<Targets>>,
    nodes: Vec<(NodeName, Weak<Node>)>,
    namespaces: Vec<(Namespace, Weak<NamespaceState>)>,
    plan: Arc<Plan>,
}

impl Planner {
    /// One that has not planned yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What [`plan`] says of `snapshot`; the same value as last time if it still holds.
    pub fn plan(&mut self, snapshot: &Snapshot) -> Arc<Plan> {
        if let Some(last) = self.last.as_ref().filter(|last| last.holds(snapshot)) {
            return Arc::clone(&last.plan);
        }
        let plan = Arc::new(plan(snapshot));
        self.last = is_remembered(&plan, snapshot).then(|| Last {
            now: snapshot.now,
            settings: snapshot.settings.clone(),
            grant_gate: snapshot.grant_gate,
            reclaim_gate: snapshot.reclaim_gate,
            targets: snapshot.targets.clone(),
            nodes: pointers(&snapshot.nodes),
            namespaces: pointers(&snapshot.namespaces),
            plan: Arc::clone(&plan),
        });
        plan
    }
}

impl Last {
    fn holds(&self, snapshot: &Snapshot) -> bool {
        self.now <= snapshot.now
            && self.plan.due().is_none_or(|change| snapshot.now < change)
            && self.settings == snapshot.settings
            && self.grant_gate == snapshot.grant_gate
            && self.reclaim_gate == snapshot.reclaim_gate
            && self.targets == snapshot.targets
            && are_same(&self.nodes, &snapshot.nodes)
            && are_same(&self.namespaces, &snapshot.namespaces)
    }
}

fn pointers<Name: Clone, Value>(values: &BTreeMap<Name, Arc<Value>>) -> Vec<(Name, Weak<Value>)> {
    values.iter().map(|(name, value)| (name.clone(), Arc::downgrade(value))).collect()
}

/// A weak pointer keeps the place from being used again, so whatever lies there is what lay there then.
fn are_same<Name: Eq, Value>(known: &[(Name, Weak<Value>)], now: &BTreeMap<Name, Arc<Value>>) -> bool {
    known.len() == now.len()
        && known.iter().zip(now).all(|((name, known), (now_called, now))| {
            std::ptr::eq(known.as_ptr(), Arc::as_ptr(now)) && name == now_called
        })
}

/// Whether `snapshot` remembers already what `plan` wants remembered; else the next plan goes on from something else.
fn is_remembered(plan: &Plan, snapshot: &Snapshot) -> bool {
    plan.leaves().all(|(name, decided)| {
        let state = snapshot.namespaces.get(&name.namespace);
        let queue = state.and_then(|state| state.queues.iter().find(|queue| queue.name == name.name));
        queue.is_some_and(|queue| queue.remembered == decided.remember)
    })
}
