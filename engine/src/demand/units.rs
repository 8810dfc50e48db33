//! Units: the pods that a queue runs or would run, in the order in which it keeps them.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::Demand;
use crate::amounts::{Amount, Amounts, Resource};
use crate::snapshot::NamespaceState;
use crate::time::Timestamp;

/// Pods of one queue that are alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit<'a> {
    /// What each of them requests.
    pub(crate) requests: &'a Amounts,
    /// How many.
    pub(crate) pods: i128,
    /// Whether they have started.
    pub(crate) runs: bool,
    priority: i32,
    /// When the oldest of them, or its owner, was created.
    created: Timestamp,
    /// Whether they are there, refused or not yet created otherwise.
    exists: bool,
}

impl Unit<'_> {
    /// Those that run first, then those that are there, then what owners lack; the higher priority first, then the
    /// older. The order in which pods go, backwards.
    fn order(&self, other: &Self) -> Ordering {
        let key = |unit: &Self| (!unit.runs, !unit.exists, -i64::from(unit.priority), unit.created);
        key(self).cmp(&key(other)).then_with(|| self.requests.iter().cmp(other.requests.iter()))
    }
}

/// The units of a leaf that count, first to be kept first.
pub(crate) fn units<'a>(state: &'a NamespaceState, demand: &Demand<'a>, now: Timestamp) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::new();
    let mut known: HashMap<(bool, i32, &Amounts), usize> = HashMap::new();
    let mut last: Option<usize> = None;
    for pod in state.pods.iter().filter(|pod| pod.is_live() && !demand.ignores(pod, now)) {
        let runs = pod.started.is_some();
        let same = |unit: &Unit<'_>| {
            unit.runs == runs && unit.priority == pod.priority && unit.requests == pod.requests()
        };
        // Pods of one owner stand together: most are like the one before.
        let at = last.filter(|at| units.get(*at).is_some_and(same)).unwrap_or_else(|| {
            *known.entry((runs, pod.priority, pod.requests())).or_insert_with(|| {
                units.push(Unit {
                    requests: pod.requests(),
                    pods: 0,
                    runs,
                    priority: pod.priority,
                    created: pod.created,
                    exists: true,
                });
                units.len().saturating_sub(1)
            })
        });
        last = Some(at);
        if let Some(unit) = units.get_mut(at) {
            unit.pods = unit.pods.saturating_add(1);
            unit.created = unit.created.min(pod.created);
        }
    }
    let lacking = demand.asks.iter().filter(|ask| !ask.not_taken_up).map(|ask| Unit {
        requests: &ask.owner.shape.requests,
        pods: i128::from(ask.pods),
        runs: false,
        priority: ask.owner.priority,
        created: ask.owner.created,
        exists: false,
    });
    units.extend(lacking);
    units.retain(|unit| !unit.requests.is_empty());
    units.sort_by(Unit::order);
    units
}

/// The least of `resource` that any pod of the namespace requests, or any of its owners' pods would; none if none
/// does.
pub(crate) fn smallest(state: &NamespaceState, resource: &Resource) -> Option<Amount> {
    let pods = state.pods.iter().filter(|pod| pod.is_live()).map(|pod| pod.requests().get(resource));
    let owners = state.owners.iter().map(|owner| owner.shape.requests.get(resource));
    pods.chain(owners).filter(|amount| amount.is_positive()).min()
}
