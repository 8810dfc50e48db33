//! Asks: the pods of a queue that lack room, and what each of them needs.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::Party;
use crate::amounts::{Amount, Amounts, Resource};
use crate::names::{GangName, OwnerUid};
use crate::plan::Asker;
use crate::snapshot::{Gang, Pod, Shape, Snapshot};
use crate::time::Timestamp;

/// Pods of one shape that ask for room together.
#[derive(Clone, Debug)]
pub(super) struct Ask<'a> {
    pub(super) who: Asker,
    pub(super) shape: &'a Arc<Shape>,
    /// How many of them.
    pub(super) pods: u32,
    /// How many are of use only together: what their gang lacks to its floor, else one.
    pub(super) together: u32,
    pub(super) priority: i32,
    pub(super) created: Timestamp,
}

/// The pods that the owners of a namespace want and that do not exist, most important first: refused by a quota, or
/// not created yet.
///
/// Owners whose demand was not taken up ask for nothing.
pub(super) fn refused<'a>(party: &Party<'a>) -> Vec<Ask<'a>> {
    let state = party.state;
    let mut live: HashMap<&OwnerUid, u32> = HashMap::new();
    let mut members: HashMap<&GangName, u32> = HashMap::new();
    for pod in state.pods.iter().filter(|pod| pod.is_live()) {
        if let Some(owner) = pod.owner() {
            let count = live.entry(owner).or_default();
            *count = count.saturating_add(1);
        }
        if let Some(gang) = pod.gang() {
            let count = members.entry(&gang.name).or_default();
            *count = count.saturating_add(1);
        }
    }
    let lacks =
        |gang: &Gang| gang.min_available.saturating_sub(members.get(&gang.name).copied().unwrap_or_default());
    let ignored = |uid: &OwnerUid, generation: i64| {
        party.not_taken_up.get(uid).is_some_and(|noted| noted.generation == generation)
    };
    let mut asks: Vec<(Ask<'a>, &OwnerUid)> = state
        .owners
        .iter()
        .filter(|owner| !ignored(&owner.uid, owner.generation))
        .map(|owner| (owner, owner.wanted.saturating_sub(live.get(&owner.uid).copied().unwrap_or_default())))
        .filter(|(owner, missing)| *missing > 0 && !owner.shape.requests.is_empty())
        .map(|(owner, missing)| {
            let ask = Ask {
                who: Asker::Owner(owner.kind, owner.name.clone()),
                shape: &owner.shape,
                pods: missing,
                together: owner.gang.as_ref().map_or(1, lacks).clamp(1, missing),
                priority: owner.priority,
                created: owner.created,
            };
            (ask, &owner.uid)
        })
        .collect();
    asks.sort_by(|(a, uid_a), (b, uid_b)| {
        (Reverse(a.priority), a.created, uid_a).cmp(&(Reverse(b.priority), b.created, uid_b))
    });
    asks.into_iter().map(|(ask, _)| ask).collect()
}

/// The pods of all namespaces that exist and have no node, most important first, as the scheduler takes them.
pub(super) fn unbound(snapshot: &Snapshot) -> Vec<(&crate::names::Namespace, &Pod)> {
    let waits = |pod: &&Pod| pod.node.is_none() && pod.is_live();
    let mut all: Vec<_> = snapshot
        .namespaces
        .iter()
        .flat_map(|(name, state)| state.pods.iter().filter(waits).map(move |pod| (name, pod)))
        .collect();
    all.sort_by(|(namespace_a, a), (namespace_b, b)| {
        (Reverse(a.priority), a.created, namespace_a, &a.name, &a.uid).cmp(&(
            Reverse(b.priority),
            b.created,
            namespace_b,
            &b.name,
            &b.uid,
        ))
    });
    all
}

/// What is governed of `requests`.
pub(super) fn governed(requests: &Amounts, resources: &[&Resource]) -> Amounts {
    resources.iter().map(|resource| ((*resource).clone(), requests.get(resource))).collect()
}

/// As many times `requests`, at most `pods`, as fit in `room`.
pub(super) fn whole(requests: &Amounts, pods: u32, room: &Amounts) -> Amounts {
    let fit = requests
        .iter()
        .filter_map(|(resource, amount)| room.get(resource).units().checked_div(amount.units()));
    times(requests, fit.min().unwrap_or(0).clamp(0, i128::from(pods)))
}

/// What `pods` of them request.
pub(super) fn times(requests: &Amounts, pods: i128) -> Amounts {
    let multiple = |(resource, amount): (&Resource, Amount)| {
        (resource.clone(), Amount::new(amount.units().saturating_mul(pods)))
    };
    requests.iter().map(multiple).collect()
}
