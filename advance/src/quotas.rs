//! Quotas that a plan writes come into force, and quotas of Queues that are gone are collected.

use std::sync::Arc;

use super::gates;
use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::QueueUid;
use quotient_engine::plan::{Plan, QuotaWrite};
use quotient_engine::snapshot::{GrantGate, NamespaceState, Quota, Snapshot};

/// Puts every quota write of `plan` in force at once, and deletes the quotas whose Queue is gone; whether that changed
/// anything.
pub(super) fn put_in_force(snapshot: &mut Snapshot, plan: &Plan) -> bool {
    let mut changed = false;
    keep_ledger(snapshot, plan);
    for (name, queue) in &plan.queues {
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace).filter(|_| !queue.is_parent) else {
            continue;
        };
        if state.is_in_gate_mode() && queue.is_granted() {
            let quota = gates::quota(state.quota.as_ref(), queue, plan.bounds(&queue.allocated));
            changed |= replace(state, Some(quota));
            continue;
        }
        if queue.quota_write.is_none() && queue.quota_in_force {
            continue;
        }
        if queue.quota_left_alone {
            changed |= enforce(state);
            continue;
        }
        let standing = state.quota.clone().unwrap_or_default();
        let (hard, owner) = match &queue.quota_write {
            Some(QuotaWrite { hard, owner, .. }) => (hard.clone(), owner.clone().or(standing.owner)),
            None => (standing.hard, standing.owner),
        };
        changed |=
            replace(state, Some(in_force(hard, owner, standing.granted.is_some(), queue.preempting.clone())));
    }
    for (name, write) in &plan.retained {
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        let standing = state.quota.clone().unwrap_or_default();
        let owner = write.owner.clone().or(standing.owner);
        changed |= replace(
            state,
            Some(in_force(write.hard.clone(), owner, standing.granted.is_some(), Amounts::new())),
        );
    }
    for state in snapshot.namespaces.values_mut() {
        let exists = |owner: &QueueUid| state.queues.iter().any(|queue| queue.uid == *owner);
        let owner = state.quota.as_ref().and_then(|quota| quota.owner.as_ref());
        if owner.is_some_and(|owner| !exists(owner)) {
            changed |= replace(state, None);
        }
    }
    // Every quota bears its stamp now.
    changed |= std::mem::take(&mut snapshot.grant_gate) == GrantGate::Held;
    changed
}

/// Writes down the targets, and what queues are owed. It moves no quota.
pub(super) fn keep_ledger(snapshot: &mut Snapshot, plan: &Plan) {
    snapshot.targets.clone_from(&plan.targets);
    for (name, queue) in &plan.queues {
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        if let Some(quota) = state.quota.clone().filter(|quota| quota.owed != queue.preempting) {
            replace(state, Some(Quota { owed: queue.preempting.clone(), ..quota }));
        }
    }
}

/// Enforces the quota that is there.
fn enforce(state: &mut Arc<NamespaceState>) -> bool {
    let enforced = state.quota.clone().map(|quota| Quota { enforced: quota.hard.clone(), ..quota });
    replace(state, enforced)
}

/// A quota of ours that says `hard`, and so does the ledger if it is `granted` there.
fn in_force(hard: Bounds, owner: Option<QueueUid>, granted: bool, owed: Amounts) -> Quota {
    Quota {
        owed,
        enforced: hard.clone(),
        granted: granted.then(|| hard.clone()),
        hard,
        ours: true,
        owner,
        ..Quota::default()
    }
}

fn replace(state: &mut Arc<NamespaceState>, quota: Option<Quota>) -> bool {
    let other = state.quota != quota;
    if other {
        Arc::make_mut(state).quota = quota;
    }
    other
}
