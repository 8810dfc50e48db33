//! Units: the pods that a queue runs or would run, in the order in which it keeps them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Ask, Demand};
use crate::amounts::{Amount, Amounts, Resource};
use crate::names::OwnerUid;
use crate::snapshot::{NamespaceState, Pod};

/// Pods of one queue that are alike and stand together in its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit<'a> {
    /// What each of them requests.
    pub(crate) requests: &'a Amounts,
    /// How many.
    pub(crate) pods: i128,
    /// Whether they are there: they hold what they request, and would have to be evicted.
    pub(crate) exists: bool,
}

impl Unit<'_> {
    /// Whether it takes any room.
    fn is_one(&self) -> bool {
        self.pods > 0 && !self.requests.is_empty()
    }
}

/// The units of a leaf that has not room for all of them.
#[derive(Clone, Debug)]
pub(crate) struct Stock<'a> {
    /// First to be kept first.
    pub(crate) units: Vec<Unit<'a>>,
    /// Whether it will lack room whatever becomes of its pods. Only then does it know that it has too much of
    /// something: pods that nobody recreates are gone when they are evicted, and the claim that they showed to be
    /// of no use is a claim again.
    pub(crate) gives: bool,
    /// Whether it may be given anything: where pods are never taken, what they got could not be had back, and would
    /// become a floor that everybody pays for.
    pub(crate) receives: bool,
    /// The resources of which there is enough for all that is there and all that is asked for: no pod that is there goes
    /// for lack of them, whatever its queue deserves.
    pub(crate) ample: Vec<Resource>,
}

/// What the owners of a namespace lack, first to be let in first.
///
/// The older owner comes first: whoever creates pods knows of no priority, so that is what will be there next. What is
/// set aside comes last: whether it counts as demand comes and goes, and what is whole must not come and go with it.
pub(crate) fn lacking<'a>(state: &NamespaceState, demand: &Demand<'a>) -> Vec<Unit<'a>> {
    let leaving = leaving_by_owner(state);
    let mut asks: Vec<&Ask<'a>> = demand.asks.iter().collect();
    asks.sort_by(|a, b| {
        let key = |ask: &Ask<'_>| (ask.counted == 0, ask.owner.created, ask.owner.kind);
        key(a).cmp(&key(b)).then_with(|| (&a.owner.name, &a.owner.uid).cmp(&(&b.owner.name, &b.owner.uid)))
    });
    let unit = |ask: &Ask<'a>| {
        // Whoever is to take the place of a pod that is still there is no further unit.
        let replaced = leaving.get(&ask.owner.uid).copied().unwrap_or_default();
        let pods = i128::from(ask.pods.saturating_sub(replaced));
        Unit { requests: &ask.owner.shape.requests, pods, exists: false }
    };
    asks.into_iter().map(unit).filter(Unit::is_one).collect()
}

fn leaving_by_owner(state: &NamespaceState) -> FxHashMap<&OwnerUid, u32> {
    let mut leaving: FxHashMap<&OwnerUid, u32> = FxHashMap::default();
    let pods = state.pods.iter().filter(|pod| pod.is_charged() && pod.is_terminating());
    for owner in pods.filter_map(Pod::owner) {
        let count = leaving.entry(owner).or_default();
        *count = count.saturating_add(1);
    }
    leaving
}

/// The pods of a namespace if all are alike: then no order is better than another.
pub(crate) fn alike(state: &NamespaceState) -> Option<Vec<Unit<'_>>> {
    let charged = || state.pods.iter().filter(|pod| pod.is_charged());
    let Some(first) = charged().next() else { return Some(Vec::new()) };
    let like_first = |pod: &Pod| {
        pod.gang().is_none() && (Arc::ptr_eq(&first.shape, &pod.shape) || first.requests() == pod.requests())
    };
    charged().all(like_first).then(|| {
        let pods = i128::try_from(charged().count()).unwrap_or(i128::MAX);
        let unit = Unit { requests: first.requests(), pods, exists: true };
        Some(unit).into_iter().filter(Unit::is_one).collect()
    })
}

/// What is there, with what is alike and next to each other in one unit. Members of a gang count one by one, as they are
/// let in.
pub(crate) fn together<'a>(all: impl Iterator<Item = &'a Amounts>) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::new();
    for requests in all {
        match units.last_mut().filter(|unit| unit.requests == requests) {
            Some(unit) => unit.pods = unit.pods.saturating_add(1),
            None => units.push(Unit { requests, pods: 1, exists: true }),
        }
    }
    units.retain(Unit::is_one);
    units
}

/// The least of `resource` that any pod of the namespace requests, or any of its owners' pods would; none if none
/// does.
pub(crate) fn smallest(state: &NamespaceState, resource: &Resource) -> Option<Amount> {
    let pods = state.pods.iter().filter(|pod| pod.is_live()).map(|pod| pod.requests().get(resource));
    let owners = state.owners.iter().map(|owner| owner.shape.requests.get(resource));
    pods.chain(owners).filter(|amount| amount.is_positive()).min()
}
