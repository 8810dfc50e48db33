//! Asks: the pods of a queue that lack room, and what each of them needs.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use crate::names::OwnerUid;
use crate::plan::Asker;
use crate::snapshot::{NamespaceState, Pod, Remembered, Shape, Snapshot};
use crate::time::Timestamp;

/// Pods of one shape that ask for room together.
#[derive(Clone, Debug)]
pub(super) struct Ask<'a> {
    pub(super) who: Asker,
    pub(super) shape: &'a Arc<Shape>,
    /// How many of them.
    pub(super) pods: u32,
    pub(super) priority: i32,
    pub(super) created: Timestamp,
}

/// The pods that the owners of a namespace want and that do not exist, most important first: refused by a quota, or
/// not created yet.
///
/// Owners whose demand was not taken up ask for nothing.
pub(super) fn refused<'a>(state: &'a NamespaceState, remembered: &Remembered) -> Vec<Ask<'a>> {
    let mut live: HashMap<&OwnerUid, u32> = HashMap::new();
    for owner in state.pods.iter().filter(|pod| pod.is_live()).filter_map(Pod::owner) {
        let count = live.entry(owner).or_default();
        *count = count.saturating_add(1);
    }
    let ignored = |uid: &OwnerUid, generation: i64| {
        remembered.not_taken_up.get(uid).is_some_and(|noted| noted.generation == generation)
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
