//! What the cluster does with a plan: a small, exact model of one step of the world.
//!
//! [`settle`] and [`advance`] repeated to a fixed point are `kubectl-quotient simulate`, and the stage of the
//! property tests.
//!
//! ```text
//! quotas in force ──► pods leave ──► owners recreate ──► a scheduler binds ──► budgets recover
//!  statuses kept       (evicted,      what the quota      by priority, age     by what runs
//!                    forced, done)       admits             and name
//! ```
//!
//! What is not modeled, it does not pretend to know: pods run until an action ends them, nodes and specs stay as
//! they are, no autoscaler adds a node, and an owner's pods are scheduled by resources, selectors, required node
//! affinity and taints alone.

mod budgets;
mod gates;
mod jobs;
mod leaving;
mod owners;
mod quotas;
mod scheduler;
mod sizes;
mod statuses;

use quotient_engine::plan::{Plan, PodId};
use quotient_engine::planner::plan;
use quotient_engine::snapshot::Snapshot;
use quotient_engine::time::Timestamp;

/// Quotas settle in a few rounds (lower, raise into what became free); more would be a defect of the plan.
const MOST_ROUNDS: usize = 64;

/// After this long without getting on, a pod does not get on by itself: one that is not Ready stays so, and one
/// that is past its deletion deadline stays until it is deleted without grace.
const PATIENCE_SECONDS: i64 = 60;

/// The world one step later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advanced {
    /// What is seen then.
    pub snapshot: Snapshot,
    /// The pods that started, by namespace and name.
    pub started: Vec<PodId>,
}

impl Advanced {
    /// Whether nothing but the time is other than in `before`: without an event or more time, every further step
    /// is the same.
    pub fn rests(&self, before: &Snapshot) -> bool {
        self.snapshot.namespaces == before.namespaces && self.snapshot.nodes == before.nodes
    }
}

/// Plans, and puts the plan's own quota writes in force until there are none left.
///
/// Returns the cluster with its quotas settled and the plan made there: its evictions are all due.
pub fn settle(snapshot: &Snapshot) -> (Snapshot, Plan) {
    let mut snapshot = snapshot.clone();
    let mut decided = plan(&snapshot);
    for _ in 0..MOST_ROUNDS {
        let mut next = snapshot.clone();
        if !quotas::put_in_force(&mut next, &decided) {
            break;
        }
        snapshot = next;
        decided = plan(&snapshot);
    }
    (snapshot, decided)
}

/// Keeps what `plan` wants remembered in the Queues' statuses and in the ledger, as the operator does before it carries a
/// plan out.
pub fn keep(snapshot: &mut Snapshot, plan: &Plan) {
    statuses::keep(snapshot, plan);
    quotas::keep_ledger(snapshot, plan);
}

/// What is seen one second after `plan` was carried out on `snapshot`.
pub fn advance(snapshot: &Snapshot, plan: &Plan) -> Advanced {
    advance_until(snapshot, plan, snapshot.now)
}

/// What is seen at `now`, or a second later if that is no later than the snapshot, after `plan` was carried out.
///
/// One step however much time it takes: for what changes only with time, such as delays and windows.
///
/// Time always moves: what is created in a step is named by its time, so that no uid is ever used twice.
pub fn advance_until(snapshot: &Snapshot, plan: &Plan, now: Timestamp) -> Advanced {
    let mut next = snapshot.clone();
    next.now = now.max(snapshot.now.plus_seconds(1));
    quotas::put_in_force(&mut next, plan);
    statuses::keep(&mut next, plan);
    jobs::keep(&mut next, plan);
    leaving::remove(&mut next, plan);
    gates::remove(&mut next, plan);
    sizes::change(&mut next, plan);
    owners::reconcile(&mut next, snapshot);
    let started = scheduler::bind(&mut next);
    budgets::recover(&mut next, snapshot);
    Advanced { snapshot: next, started }
}
