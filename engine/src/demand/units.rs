//! Units: the pods that a queue runs or would run, in the order in which it keeps them.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::sync::Arc;

use super::{Ask, Demand};
use crate::amounts::{Amount, Amounts, Resource};
use crate::names::OwnerUid;
use crate::snapshot::{NamespaceState, Pod};
use crate::time::Timestamp;

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

/// The units of a leaf that has not room for all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stock<'a> {
    /// First to be kept first.
    pub(crate) units: &'a [Unit<'a>],
    /// Whether it will lack room whatever becomes of its pods. Only then does it know that it has too much of
    /// something: pods that nobody recreates are gone when they are evicted, and the claim that they showed to be
    /// of no use is a claim again.
    pub(crate) gives: bool,
    /// Whether it may be given anything: where pods are never taken, what they got could not be had back, and would
    /// become a floor that everybody pays for.
    pub(crate) receives: bool,
}

/// The units of a leaf, first to be kept first.
///
/// Pods that have started, then pods that are there, the higher priority first, then the older; then what owners
/// lack, the older owner first: whoever creates pods knows of no priority, so that is what will be there next. For pods that is the order in which they go, backwards. Pods that nothing came of are the last of those that
/// are there: they hold room in their quota, whether they count as demand or not. So do pods on their way out, and
/// until they are gone, nothing that was decided with them is undone. What is not taken up comes last and is there all
/// the same: whether it counts as demand comes and goes, and what is whole must not come and go with it.
pub(crate) fn units<'a>(state: &'a NamespaceState, demand: &Demand<'a>, now: Timestamp) -> Vec<Unit<'a>> {
    let mut units = existing(state, demand, now);
    let leaving = leaving_by_owner(state);
    let mut lacking: Vec<&Ask<'a>> = demand.asks.iter().collect();
    lacking.sort_by(|a, b| {
        let key = |ask: &Ask<'_>| (ask.not_taken_up, ask.owner.created, ask.owner.kind);
        key(a).cmp(&key(b)).then_with(|| (&a.owner.name, &a.owner.uid).cmp(&(&b.owner.name, &b.owner.uid)))
    });
    units.extend(lacking.into_iter().map(|ask| {
        // Whoever is to take the place of a pod that is still there is no further unit.
        let replaced = leaving.get(&ask.owner.uid).copied().unwrap_or_default();
        Unit {
            requests: &ask.owner.shape.requests,
            pods: i128::from(ask.pods.saturating_sub(replaced)),
            exists: false,
        }
    }));
    units.retain(|unit| unit.pods > 0 && !unit.requests.is_empty());
    units
}

fn leaving_by_owner(state: &NamespaceState) -> HashMap<&OwnerUid, u32> {
    let mut leaving: HashMap<&OwnerUid, u32> = HashMap::new();
    let pods = state.pods.iter().filter(|pod| pod.is_charged() && pod.is_terminating());
    for owner in pods.filter_map(Pod::owner) {
        let count = leaving.entry(owner).or_default();
        *count = count.saturating_add(1);
    }
    leaving
}

fn existing<'a>(state: &'a NamespaceState, demand: &Demand<'a>, now: Timestamp) -> Vec<Unit<'a>> {
    let charged = || state.pods.iter().filter(|pod| pod.is_charged());
    let Some(first) = charged().next() else { return Vec::new() };
    // Among pods that are all alike no order is better than another.
    let like_first = |pod: &Pod| Arc::ptr_eq(&first.shape, &pod.shape) || first.requests() == pod.requests();
    if charged().all(like_first) {
        let pods = i128::try_from(charged().count()).unwrap_or(i128::MAX);
        return vec![Unit { requests: first.requests(), pods, exists: true }];
    }
    let mut pods: Vec<(bool, &Pod)> = charged().map(|pod| (demand.ignores(pod, now), pod)).collect();
    pods.sort_unstable_by(|(a_ignored, a), (b_ignored, b)| {
        a_ignored.cmp(b_ignored).then_with(|| by_keeping(a, b))
    });
    let mut units: Vec<Unit<'a>> = Vec::new();
    for (_, pod) in pods {
        match units.last_mut().filter(|unit| unit.requests == pod.requests()) {
            Some(unit) => unit.pods = unit.pods.saturating_add(1),
            None => units.push(Unit { requests: pod.requests(), pods: 1, exists: true }),
        }
    }
    units
}

fn by_keeping(a: &Pod, b: &Pod) -> Ordering {
    let class = |pod: &Pod| (pod.started.is_none(), Reverse(pod.priority), pod.started, pod.created);
    class(a).cmp(&class(b)).then_with(|| a.name.cmp(&b.name)).then_with(|| a.uid.cmp(&b.uid))
}

/// The least of `resource` that any pod of the namespace requests, or any of its owners' pods would; none if none
/// does.
pub(crate) fn smallest(state: &NamespaceState, resource: &Resource) -> Option<Amount> {
    let pods = state.pods.iter().filter(|pod| pod.is_live()).map(|pod| pod.requests().get(resource));
    let owners = state.owners.iter().map(|owner| owner.shape.requests.get(resource));
    pods.chain(owners).filter(|amount| amount.is_positive()).min()
}
