//! Asks: the pods of a queue that lack room, and what each of them needs.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Party;
use crate::amounts::{Amounts, Resource};
use crate::demand;
use crate::names::Namespace;
use crate::plan::Asker;
use crate::snapshot::{Gang, Pod, Shape, Snapshot};

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
}

/// The pods that the owners of a namespace want and that do not exist, most important first: refused by a quota, or
/// not created yet.
///
/// What does not count is asked for by no owner.
pub(super) fn refused<'a>(party: &Party<'a>) -> Vec<Ask<'a>> {
    let asks = party.asks.iter().filter(|ask| ask.counted > 0 && !ask.owner.shape.requests.is_empty());
    let ask = |ask: &demand::Ask<'a>| Ask {
        who: Asker::of(ask.owner),
        shape: &ask.owner.shape,
        pods: ask.counted,
        together: ask.owner.gang.as_ref().map_or(1, |gang| lacks(party, gang)).clamp(1, ask.counted),
        priority: ask.owner.priority,
    };
    asks.map(ask).collect()
}

/// How many members `gang` lacks to be of use.
fn lacks(party: &Party<'_>, gang: &Gang) -> u32 {
    let is_member = |pod: &&Pod| pod.is_live() && pod.gang().is_some_and(|one| one.name == gang.name);
    let members = party.state.pods.iter().filter(is_member).count();
    gang.min_available.saturating_sub(u32::try_from(members).unwrap_or(u32::MAX))
}

/// The pods of all namespaces that exist and have no node, most important first, as the scheduler takes them.
pub(crate) fn unbound(snapshot: &Snapshot) -> Vec<(&Namespace, &Pod)> {
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
    requests.times(fit.min().unwrap_or(0).clamp(0, i128::from(pods)))
}
