//! What the cluster does with a plan: a small, exact model of one step of the world.
//!
//! [`settle`] and [`advance`] repeated to a fixed point are `kubectl-quotient simulate`, and the stage of the
//! property tests: quotas come into force, victims go, a first-fit scheduler binds what waits.

mod scheduler;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::amounts::Bounds;
use crate::names::PodUid;
use crate::plan::{Plan, PodId, plan};
use crate::snapshot::{Phase, Pod, Quota, Snapshot};

/// Quotas settle in a few rounds (lower, raise into what became free); more would be a defect of the plan.
const MOST_ROUNDS: usize = 64;

/// The world one step later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advanced {
    /// What is seen then.
    pub snapshot: Snapshot,
    /// The pods that started, by namespace and name.
    pub started: Vec<PodId>,
}

/// Plans, and puts the plan's own quota writes in force until there are none left.
///
/// Returns the cluster with its quotas settled and the plan made there: its evictions are all due.
pub fn settle(snapshot: &Snapshot) -> (Snapshot, Plan) {
    let mut snapshot = snapshot.clone();
    let mut decided = plan(&snapshot);
    for _ in 0..MOST_ROUNDS {
        if !write_quotas(&mut snapshot, &decided) {
            break;
        }
        decided = plan(&snapshot);
    }
    (snapshot, decided)
}

/// Puts every quota write of `plan` in force at once; whether there was any.
fn write_quotas(snapshot: &mut Snapshot, plan: &Plan) -> bool {
    let mut wrote = false;
    for (name, queue) in &plan.queues {
        if queue.quota_write.is_none() && queue.quota_in_force {
            continue;
        }
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        let quota = Arc::make_mut(state).quota.get_or_insert_default();
        let (hard, goes_with_queue) = match &queue.quota_write {
            Some(wanted) => (wanted.hard.clone(), wanted.goes_with_queue),
            None => (quota.hard.clone(), quota.goes_with_queue),
        };
        *quota =
            Quota { enforced: hard.clone(), hard, ours: true, unconfirmed: Bounds::new(), goes_with_queue };
        wrote = true;
    }
    wrote
}

/// What is seen one step after `plan` was carried out on `snapshot`, a second later.
///
/// Evicted, terminating and finished pods are gone; then a first-fit scheduler binds the pods that wait, highest
/// priority first, oldest first.
pub fn advance(snapshot: &Snapshot, plan: &Plan) -> Advanced {
    let mut snapshot = snapshot.clone();
    write_quotas(&mut snapshot, plan);
    snapshot.now = snapshot.now.plus_seconds(1);
    let victims: BTreeSet<&PodUid> = plan.evictions.iter().map(|eviction| &eviction.pod.uid).collect();
    for state in snapshot.namespaces.values_mut() {
        let stays =
            |pod: &Pod| !victims.contains(&pod.uid) && !pod.is_terminating() && pod.phase != Phase::Finished;
        if !state.pods.iter().all(stays) {
            Arc::make_mut(state).pods.retain(stays);
        }
    }
    let started = scheduler::bind(&mut snapshot);
    Advanced { snapshot, started }
}
