//! The laws of terminating pods that are evicted again with less grace, over random clusters.

use std::sync::Arc;

use proptest::prelude::*;
use quotient_advance::{keep, settle};
use quotient_engine::plan::{Eviction, Plan};
use quotient_engine::planner::plan;
use quotient_engine::reasons::EvictionReason;
use quotient_engine::snapshot::{Pod, Snapshot};

use crate::{effort, history, random, story};

prop_compose! {
    /// A cluster in which some pods take their time, and queues allow different graces.
    fn slow()(
        snapshot in random::cluster(6),
        deadlines in proptest::collection::vec(proptest::option::weighted(0.5, 0i64..2000), 10),
        most in proptest::collection::vec(proptest::option::of(0u32..1200), 6),
    ) -> Snapshot {
        let mut snapshot = snapshot;
        for (state, most) in snapshot.namespaces.values_mut().zip(&most) {
            let state = Arc::make_mut(state);
            state.queues.iter_mut().for_each(|queue| queue.eviction.max_grace_seconds = *most);
            for (pod, deadline) in state.pods.iter_mut().zip(&deadlines) {
                if let Some(left) = deadline {
                    pod.deletion = Some(snapshot.now.plus_seconds(*left));
                    pod.evicted = false;
                }
            }
        }
        snapshot
    }
}

fn capped(plan: &Plan) -> impl Iterator<Item = &Eviction> {
    plan.shortened.iter().filter(|again| again.reason == EvictionReason::GraceShortened)
}

fn pod<'a>(snapshot: &'a Snapshot, again: &Eviction) -> &'a Pod {
    let pods = &snapshot.namespaces[&again.pod.namespace].pods;
    pods.iter().find(|pod| pod.uid == again.pod.uid).unwrap()
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn only_what_ends_too_late_and_is_needed_is_evicted_again(snapshot in slow()) {
        let (snapshot, plan) = settle(&snapshot);
        for again in capped(&plan) {
            let grace = i64::from(again.grace_seconds.unwrap());
            let deadline = pod(&snapshot, again).deletion.unwrap();
            prop_assert!(deadline > snapshot.now.plus_seconds(grace));
            prop_assert!(again.requests.overlaps(&again.used.less(&again.deserved)));
            let beneficiary = again.beneficiary.as_ref().unwrap();
            prop_assert!(*beneficiary != again.queue);
            prop_assert!(again.requests.overlaps(&plan.queues[beneficiary].lacking));
            prop_assert_eq!(again.rank, None);
        }
    }

    #[test]
    fn none_is_evicted_again_twice(snapshot in slow()) {
        let (mut snapshot, first) = settle(&snapshot);
        keep(&mut snapshot, &first);
        for again in capped(&first) {
            let deadline = snapshot.now.plus_seconds(i64::from(again.grace_seconds.unwrap()));
            let state = Arc::make_mut(snapshot.namespaces.get_mut(&again.pod.namespace).unwrap());
            state.pods.iter_mut().find(|pod| pod.uid == again.pod.uid).unwrap().deletion = Some(deadline);
        }
        for victim in &first.evictions {
            let deadline = snapshot.now.plus_seconds(i64::from(victim.grace_seconds.unwrap_or_default()));
            let state = Arc::make_mut(snapshot.namespaces.get_mut(&victim.pod.namespace).unwrap());
            let pod = state.pods.iter_mut().find(|pod| pod.uid == victim.pod.uid).unwrap();
            (pod.deletion, pod.evicted) = (Some(deadline), true);
        }
        let second = plan(&snapshot);
        for again in capped(&first) {
            prop_assert!(capped(&second).all(|other| other.pod != again.pod));
        }
        // They cover what is lacking, so that no other pod is evicted again instead.
        let printed = || format!("{}\n{}\n{}", history::describe(&snapshot), story::print(1, &first, &[]), story::print(2, &second, &[]));
        prop_assert_eq!(capped(&second).count(), 0, "{}", printed());
    }

    #[test]
    fn a_victim_has_a_rank(snapshot in random::cluster(6)) {
        let (_, plan) = settle(&snapshot);
        for eviction in plan.evictions.iter().chain(&plan.waiting) {
            prop_assert!(eviction.rank.is_some_and(|rank| rank > 0), "{:?}", eviction);
        }
    }
}
