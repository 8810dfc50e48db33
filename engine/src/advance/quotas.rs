//! Quotas that a plan writes come into force.

use std::sync::Arc;

use crate::amounts::Bounds;
use crate::plan::{Orphan, Plan};
use crate::snapshot::{NamespaceState, Quota, Snapshot};

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
        changed |= replace(state, Some(in_force(hard, goes_with_queue)));
    }
    for (namespace, orphan) in &plan.orphans {
        let Some(state) = snapshot.namespaces.get_mut(namespace) else { continue };
        let Some(standing) = &state.quota else { continue };
        let quota = match orphan {
            Orphan::Lower(hard) => Some(in_force(hard.clone(), standing.goes_with_queue)),
            Orphan::Remove => None,
        };
        changed |= replace(state, quota);
    }
    changed
}

fn in_force(hard: Bounds, goes_with_queue: bool) -> Quota {
    Quota { enforced: hard.clone(), hard, ours: true, unconfirmed: Bounds::new(), goes_with_queue }
}

fn replace(state: &mut Arc<NamespaceState>, quota: Option<Quota>) -> bool {
    let other = state.quota != quota;
    if other {
        Arc::make_mut(state).quota = quota;
    }
    other
}
