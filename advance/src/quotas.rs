//! Quotas that a plan writes come into force, and quotas of Queues that are gone are collected.

use std::sync::Arc;

use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::QueueUid;
use quotient_engine::plan::{Plan, QuotaWrite};
use quotient_engine::snapshot::{GrantGate, NamespaceState, Quota, Snapshot};

/// Puts every quota write of `plan` in force at once, and deletes the quotas whose Queue is gone; whether that changed
/// anything.
pub(super) fn put_in_force(snapshot: &mut Snapshot, plan: &Plan) -> bool {
    let mut changed = false;
    keep_ledger(snapshot, plan);
    for (name, queue) in plan.queues.iter().filter(|(_, queue)| !queue.is_parent) {
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        if !queue.is_granted() {
            changed |= (queue.quota_write.is_some() || !queue.quota_in_force) && enforce(state);
            continue;
        }
        let granted = state.is_in_gate_mode().then(|| plan.bounds(&queue.allocated));
        if granted.is_some() || queue.quota_write.is_some() || !queue.quota_in_force {
            let quota = written(state, queue.quota_write.as_ref(), granted, queue.preempting.clone());
            changed |= replace(state, Some(quota));
        }
    }
    for (name, write) in &plan.retained {
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        let quota = written(state, Some(write), None, Amounts::new());
        changed |= replace(state, Some(quota));
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

/// Writes down the targets, and what queues are owed whose quotas are not left alone. It moves no quota.
pub(super) fn keep_ledger(snapshot: &mut Snapshot, plan: &Plan) {
    snapshot.targets.clone_from(&plan.targets);
    for (name, queue) in plan.queues.iter().filter(|(_, queue)| queue.is_granted()) {
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

/// The quota of a namespace once `write` is carried out. In Gate mode the ledger says what is `granted`; else, if it has an
/// entry, what the quota says.
fn written(
    state: &NamespaceState,
    write: Option<&QuotaWrite>,
    granted: Option<Bounds>,
    owed: Amounts,
) -> Quota {
    let standing = state.quota.clone().unwrap_or_default();
    let (hard, owner) = match write {
        Some(QuotaWrite { hard, owner, .. }) => (hard.clone(), owner.clone().or(standing.owner)),
        None => (standing.hard, standing.owner),
    };
    Quota {
        owed,
        enforced: hard.clone(),
        granted: granted.or_else(|| standing.granted.map(|_| hard.clone())),
        owner: owner.filter(|_| !hard.is_empty()),
        hard,
        ours: true,
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
