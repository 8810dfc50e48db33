//! Quotas that a plan writes come into force.

use std::sync::Arc;

use crate::amounts::Bounds;
use crate::plan::{Orphan, Plan};
use crate::snapshot::{Growth, NamespaceState, Quota, Snapshot};

/// Puts every quota write of `plan` in force at once, of queues and of namespaces that lost theirs; whether that
/// changed anything.
pub(super) fn put_in_force(snapshot: &mut Snapshot, plan: &Plan) -> bool {
    let mut changed = false;
    for (name, queue) in &plan.queues {
        if queue.quota_write.is_none() && queue.quota_in_force {
            continue;
        }
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        let standing = state.quota.clone().unwrap_or_default();
        let (hard, goes_with_queue) = match &queue.quota_write {
            Some(wanted) => (wanted.hard.clone(), wanted.goes_with_queue),
            None => (standing.hard, standing.goes_with_queue),
        };
        let granted = standing.granted.is_some();
        changed |= replace(state, Some(in_force(hard, goes_with_queue, granted)));
    }
    for (namespace, orphan) in &plan.orphans {
        let Some(state) = snapshot.namespaces.get_mut(namespace) else { continue };
        let Some(standing) = &state.quota else { continue };
        let quota = match orphan {
            Orphan::Lower(hard) | Orphan::Renew(hard) => {
                Some(in_force(hard.clone(), standing.goes_with_queue, standing.granted.is_some()))
            }
            Orphan::Remove => None,
        };
        changed |= replace(state, quota);
    }
    // Every quota bears its stamp now.
    changed |= std::mem::take(&mut snapshot.growth) == Growth::Held;
    changed
}

/// A quota of ours that says `hard`, and so does the ledger if it is `granted` there.
fn in_force(hard: Bounds, goes_with_queue: bool, granted: bool) -> Quota {
    Quota {
        enforced: hard.clone(),
        granted: granted.then(|| hard.clone()),
        hard,
        ours: true,
        goes_with_queue,
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
