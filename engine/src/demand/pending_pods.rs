//! What owners lack: pods that were rejected, or that are not created yet.

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::keyed::{KeyedMap, counts};
use crate::names::GangName;
use crate::snapshot::{NamespaceState, Owner, Pod};
use crate::time::Timestamp;

/// An owner that wants more pods than there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingPods<'a> {
    pub(crate) owner: &'a Owner,
    /// How many it lacks.
    pub(crate) pods: u32,
    /// Of these, how many it lacks because it was scaled down for others of its queue.
    pub(crate) withheld_replicas: u32,
    /// How many of those that it lacks count as demand now: all while it is trusted, none while it is set aside.
    pub(crate) counted: u32,
    /// Until when it is set aside.
    pub(crate) set_aside: Option<Timestamp>,
}

impl PendingPods<'_> {
    /// What counts of it.
    pub(crate) fn requests(&self) -> Amounts {
        self.owner.shape.requests.times(self.counted)
    }
}

/// How many live members each gang has.
pub(crate) fn members(state: &NamespaceState) -> KeyedMap<&GangName, u32> {
    let live = state.pods.iter().filter(|pod| pod.is_live());
    counts(live.filter_map(Pod::gang).map(|gang| &gang.name))
}

/// Those of `pending_pods` for members of gangs, by gang.
pub(crate) fn by_gang<'l, 'a>(
    pending_pods: impl IntoIterator<Item = &'l PendingPods<'a>>,
) -> BTreeMap<&'a GangName, Vec<&'l PendingPods<'a>>> {
    let mut by_gang: BTreeMap<&GangName, Vec<&PendingPods<'a>>> = BTreeMap::new();
    for pending in pending_pods {
        if let Some(gang) = pending.owner.gang.as_ref().filter(|gang| gang.min_available > 0) {
            by_gang.entry(&gang.name).or_default().push(pending);
        }
    }
    by_gang
}

/// What the owners of a namespace lack, most important first: by priority, then age. In a namespace that is being deleted no pod
/// can be created, so they lack nothing.
pub(super) fn of_owners(state: &NamespaceState) -> Vec<PendingPods<'_>> {
    if state.owners.is_empty() || state.terminating {
        return Vec::new();
    }
    let live = counts(state.pods.iter().filter(|pod| pod.is_live()).filter_map(Pod::owner));
    let all = state.owners.iter().map(|owner| {
        let pods = owner.rightful().saturating_sub(live.get(&owner.uid).copied().unwrap_or_default());
        let withheld_replicas = owner.size.withheld_replicas.min(pods);
        PendingPods { owner, pods, withheld_replicas, counted: pods, set_aside: None }
    });
    let mut pending_pods: Vec<PendingPods<'_>> = all.filter(|pending| pending.pods > 0).collect();
    pending_pods.sort_by(|a, b| Owner::by_importance(a.owner, b.owner));
    pending_pods
}
