//! Laws of trust: what runs counts, evidence limits what is asked for, and whatever is set aside is tried again.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::amounts::Bounds;
use quotient_engine::names::OwnerUid;
use quotient_engine::plan::{Plan, Preemptor, QueuePlan};
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{NamespaceState, Phase, Pod, Remembered, SetAside, Snapshot};
use quotient_engine::time::Timestamp;

use crate::contents::{self, sum};
use crate::random;

/// Changes every namespace.
fn change(snapshot: &mut Snapshot, change: impl Fn(&mut NamespaceState)) {
    snapshot.namespaces.values_mut().map(Arc::make_mut).for_each(change);
}

/// Every queue remembers that all its workloads were set aside since `since`.
fn set_aside(snapshot: &mut Snapshot, since: i64, times: u32) {
    change(snapshot, |state| {
        let owners: Vec<OwnerUid> = state.owners.iter().map(|owner| owner.uid.clone()).collect();
        let entry =
            SetAside { since: Timestamp::from_seconds(since), times, nodes: 99, ..SetAside::default() };
        for queue in &mut state.queues {
            queue.remembered.set_aside = owners.iter().map(|uid| (uid.clone(), entry.clone())).collect();
        }
    });
}

/// The leaves of `plan`, with their namespaces.
fn leaves<'a>(
    plan: &'a Plan,
    snapshot: &'a Snapshot,
) -> impl Iterator<Item = (&'a NamespaceState, &'a QueuePlan)> {
    contents::leaves(plan).map(|(name, queue)| (&*snapshot.namespaces[&name.namespace], queue))
}

proptest! {
    /// However long pods that started are not Ready, crash, or were set aside: they count.
    #[test]
    fn readiness_lowers_no_demand_of_what_runs(
        snapshot in random::cluster(5),
        since in 0i64..1000,
        stuck in proptest::option::of(0i64..1000),
        failing in any::<bool>(),
        times in 0u32..8,
    ) {
        let mut snapshot = snapshot;
        set_aside(&mut snapshot, since, times);
        change(&mut snapshot, |state| {
            for pod in state.pods.iter_mut().filter(|pod| pod.node.is_some()) {
                (pod.stuck, pod.failing) = (stuck.map(Timestamp::from_seconds), failing);
            }
        });
        for (state, queue) in leaves(&plan(&snapshot), &snapshot) {
            let running = sum(state.pods.iter().filter(|pod| pod.is_live() && pod.phase == Phase::Running));
            prop_assert!(running.fits_in(&queue.remember.demand), "{running:?} {:?}", queue.remember.demand);
        }
    }

    /// With evidence against it, a workload asks for one pod and as many as are or were Ready beyond those that are there.
    #[test]
    fn with_evidence_one_unit_counts_beyond_ready_pods(snapshot in random::cluster(5), times in 1u32..8) {
        let mut snapshot = snapshot;
        set_aside(&mut snapshot, 900 - 1800, times);
        change(&mut snapshot, |state| {
            state.pods.iter_mut().for_each(|pod| pod.stuck = None);
            for queue in &mut state.queues {
                (queue.request, queue.guaranteed) = (Bounds::new(), Bounds::new());
                queue.remembered = Remembered { set_aside: std::mem::take(&mut queue.remembered.set_aside), ..Remembered::default() };
            }
        });
        for (state, queue) in leaves(&plan(&snapshot), &snapshot) {
            let mut most = sum(state.pods.iter().filter(|pod| pod.is_live()));
            for owner in &state.owners {
                // An eviction changes no demand, so a Ready pod that was evicted still speaks for its workload.
                let is_there = |pod: &Pod| pod.is_live() || pod.evicted && pod.is_charged();
                let is_ready = |pod: &&Pod| is_there(pod) && pod.node.is_some() && pod.owner() == Some(&owner.uid);
                let ready = state.pods.iter().filter(is_ready).count();
                most.add_all(&owner.shape.requests.times(i128::try_from(ready + 1).unwrap()));
            }
            prop_assert!(queue.remember.demand.fits_in(&most), "{:?} {most:?}", queue.remember.demand);
        }
    }

    /// In a cluster in which nothing happens, nothing is set aside for longer than half an hour, and nothing that is
    /// remembered began in the future.
    #[test]
    fn whatever_is_set_aside_counts_again(snapshot in random::cluster(4)) {
        let mut snapshot = snapshot;
        let end = snapshot.now.plus_seconds(3 * 3600);
        while snapshot.now < end {
            let decided = plan(&snapshot);
            for (state, queue) in leaves(&decided, &snapshot) {
                let remembered = &queue.remember;
                prop_assert!(remembered.waiting.values().all(|since| *since <= snapshot.now));
                for (uid, entry) in &remembered.set_aside {
                    prop_assert!(entry.since <= snapshot.now && entry.until() <= entry.since.plus_seconds(1800));
                    let owner = state.owners.iter().find(|owner| owner.uid == *uid);
                    let is_its = |preemptor: &Preemptor| owner.is_some_and(|owner| *preemptor == Preemptor::Owner(owner.kind, owner.name.clone()));
                    let mut unmet = queue.unmet.iter().filter(|unmet| is_its(&unmet.preemptor));
                    let is_reported = unmet.any(|unmet| unmet.reason == ShortReason::SetAside);
                    prop_assert!(!is_reported || entry.is_active(snapshot.now), "{entry:?}");
                }
            }
            let next = decided.due().unwrap_or(end);
            for (name, queue) in decided.queues.into_iter().filter(|(_, queue)| !queue.is_parent) {
                let state = Arc::make_mut(snapshot.namespaces.get_mut(&name.namespace).unwrap());
                state.queues[0].remembered = queue.remember;
            }
            prop_assert!(next > snapshot.now);
            snapshot.now = next;
        }
    }
}
