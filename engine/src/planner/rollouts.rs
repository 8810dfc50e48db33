//! Rolling updates that cannot go on: the new pod needs room that the older pods of its Deployment hold.
//!
//! A Deployment whose `maxUnavailable` comes to 0 removes an older pod only after a newer one is available. Where the
//! older pods fill the share of the queue, neither can happen.

use crate::amounts::Amounts;
use crate::demand::PendingPods;
use crate::keyed::{KeyedMap, KeyedSet};
use crate::names::OwnerUid;
use crate::snapshot::{NamespaceState, Owner, Phase, Pod};

/// What is seen of one rolling update.
struct Rollout<'a> {
    newest: &'a Owner,
    /// How many pods the older ReplicaSets want.
    older: u32,
    /// How many pods of the newest ReplicaSet are Ready.
    ready: u32,
    /// Whether a pod starts or ends, so that the rollout may go on by itself.
    moves: bool,
    /// What the pods of the older ReplicaSets request.
    held: Amounts,
}

/// The newest ReplicaSets among `pending_pods` whose rollout waits for room that only an older pod of it could give.
pub(super) fn waiting<'a>(
    state: &'a NamespaceState,
    pending_pods: &[PendingPods<'a>],
) -> KeyedSet<&'a OwnerUid> {
    let newest = pending_pods.iter().filter(|pending| pending.owner.size.surges_first);
    let mut rollouts: KeyedMap<&OwnerUid, Rollout<'a>> = newest
        .filter_map(|pending| {
            let (newest, held) = (pending.owner, Amounts::new());
            let rollout = Rollout { newest, older: 0, ready: 0, moves: false, held };
            Some((&newest.controller.as_ref()?.uid, rollout))
        })
        .collect();
    if rollouts.is_empty() {
        return KeyedSet::default();
    }
    let mut deployments: KeyedMap<&OwnerUid, &OwnerUid> = KeyedMap::default();
    for owner in &state.owners {
        let Some(deployment) = owner.controller.as_ref().map(|controller| &controller.uid) else { continue };
        let Some(rollout) = rollouts.get_mut(deployment) else { continue };
        deployments.insert(&owner.uid, deployment);
        if owner.uid != rollout.newest.uid {
            rollout.older = rollout.older.saturating_add(owner.wanted);
        }
    }
    for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
        let rollout = pod.owner().and_then(|owner| rollouts.get_mut(*deployments.get(owner)?));
        if let Some(rollout) = rollout {
            rollout.note(pod);
        }
    }
    rollouts.into_values().filter(Rollout::is_stuck).map(|rollout| &rollout.newest.uid).collect()
}

impl Rollout<'_> {
    fn note(&mut self, pod: &Pod) {
        if pod.is_terminating() {
            self.moves = true;
        } else if pod.owner() != Some(&self.newest.uid) {
            self.held.add_all(pod.requests());
        } else if pod.phase == Phase::Running && pod.stuck.is_none() {
            self.ready = self.ready.saturating_add(1);
        } else {
            self.moves = true;
        }
    }

    /// Whether the Deployment removes no older pod, and one of them would leave room for a new one.
    fn is_stuck(&self) -> bool {
        let kept = self.newest.size.written;
        !self.moves
            && self.older.saturating_add(self.ready) <= kept
            && self.newest.shape.requests.fits_in(&self.held)
    }
}
