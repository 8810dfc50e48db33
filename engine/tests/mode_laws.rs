//! Laws of modes and pauses over random clusters: the decision stays, and only carrying it out is withheld.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that misses something fails, as it should"
)]

use std::sync::Arc;

use proptest::prelude::*;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan};
use quotient_engine::planner::plan;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::{Mode, Queue, Snapshot};
use quotient_engine::time::Timestamp;

use crate::contents::{leaves, path};
use crate::{effort, random};

/// How far Quotient is to go in each queue, in any order; the first is the operator's own mode.
fn modes() -> impl Strategy<Value = Vec<Mode>> {
    proptest::collection::vec(
        prop_oneof![1 => Just(Mode::Observe), 1 => Just(Mode::Quota), 3 => Just(Mode::Full)],
        12,
    )
}

/// When the pause of each queue ends, in any order: before the snapshot, at it or after it.
fn pauses() -> impl Strategy<Value = Vec<Option<i64>>> {
    proptest::collection::vec(
        proptest::option::of(prop_oneof![1 => Just(999i64), 1 => Just(1000i64), 3 => 1001i64..1100]),
        12,
    )
}

/// Changes every queue, by its place.
fn change(snapshot: &mut Snapshot, change: impl Fn(usize, &mut Queue)) {
    let mut place = 0;
    for state in snapshot.namespaces.values_mut() {
        for queue in &mut Arc::make_mut(state).queues {
            place += 1;
            change(place, queue);
        }
    }
}

/// The lowest mode on the way from a queue to the operator.
fn mode(snapshot: &Snapshot, name: &QueueName) -> Mode {
    path(snapshot, name).iter().map(|queue| queue.mode).min().unwrap().min(snapshot.settings.mode)
}

fn is_paused(snapshot: &Snapshot, name: &QueueName) -> bool {
    path(snapshot, name).iter().any(|queue| queue.paused_until.is_some_and(|until| until > snapshot.now))
}

/// Whether both queues of an eviction are in mode Full and neither is paused.
fn may_be_carried_out(snapshot: &Snapshot, eviction: &Eviction) -> bool {
    let mut queues = std::iter::once(&eviction.queue).chain(&eviction.beneficiary);
    queues.all(|name| mode(snapshot, name) == Mode::Full && !is_paused(snapshot, name))
}

/// Whether an eviction that may be carried out may be withheld all the same: for no queue in particular, because pods of
/// restrained queues may be all that waits, or for one that another eviction is withheld for, without which it is of no use.
fn may_be_withheld(snapshot: &Snapshot, plan: &Plan, eviction: &Eviction) -> bool {
    let is_for_it = |other: &&Eviction| other.beneficiary == eviction.beneficiary;
    let mut beside = plan.withheld.iter().filter(is_for_it);
    eviction.beneficiary.is_none() || beside.any(|other| !may_be_carried_out(snapshot, other))
}

/// All evictions that a plan names, by pod.
fn named(plan: &Plan) -> Vec<&Eviction> {
    let mut all: Vec<&Eviction> = plan.evictions.iter().chain(&plan.waiting).chain(&plan.withheld).collect();
    all.sort_by(|a, b| a.pod.cmp(&b.pod));
    all
}

proptest! {
    #![proptest_config(effort::cases(1500))]

    #[test]
    fn a_lower_mode_withholds_and_decides_nothing_else(snapshot in random::cluster(6), modes in modes()) {
        let full = plan(&snapshot);
        let mut lowered = snapshot;
        lowered.settings.mode = modes[0];
        change(&mut lowered, |place, queue| queue.mode = modes[place % modes.len()]);
        let decided = plan(&lowered);

        let mut expected = full.clone();
        let is_carried_out = |eviction: &Eviction| {
            may_be_carried_out(&lowered, eviction) && !decided.withheld.contains(eviction)
        };
        expected.evictions.retain(is_carried_out);
        expected.waiting.retain(is_carried_out);
        expected.withheld.clone_from(&decided.withheld);
        for (name, queue) in &mut expected.queues {
            let decided = &decided.queues[name];
            let is_observed = !queue.is_parent && mode(&lowered, name) == Mode::Observe;
            prop_assert_eq!(decided.quota_left_alone, is_observed);
            queue.quota_left_alone = is_observed;
            if is_observed {
                queue.quota_write = None;
            }
            prop_assert_eq!(decided.reach.mode, mode(&lowered, name));
            prop_assert_eq!(decided.starved.is_some(), queue.starved.is_some());
            prop_assert_eq!(decided.withheld.is_some(), decided.starved == Some(ShortReason::EvictionsDisabled));
            // What is withheld frees nothing for any queue.
            prop_assert!(decided.preempting.fits_in(&queue.preempting));
            queue.preempting.clone_from(&decided.preempting);
            // Why something waits may be another reason now.
            (queue.starved, queue.withheld) = (decided.starved, decided.withheld.clone());
            (queue.unmet, queue.reach) = (decided.unmet.clone(), decided.reach.clone());
            queue.quota_in_force = decided.quota_in_force;
        }
        let is_right = |one: &Eviction| {
            !may_be_carried_out(&lowered, one) || may_be_withheld(&lowered, &decided, one)
        };
        prop_assert!(decided.withheld.iter().all(is_right));
        prop_assert_eq!(named(&decided), named(&full));
        prop_assert_eq!(decided, expected);
    }

    #[test]
    fn a_pause_lowers_no_quota_and_moves_no_other(snapshot in random::cluster(6), pauses in pauses()) {
        let full = plan(&snapshot);
        let mut paused = snapshot;
        change(&mut paused, |place, queue| {
            queue.paused_until = pauses[place % pauses.len()].map(Timestamp::from_seconds);
        });
        let decided = plan(&paused);
        prop_assert_eq!(named(&decided), named(&full));
        prop_assert!(decided.evictions.iter().chain(&decided.waiting).all(|one| may_be_carried_out(&paused, one)));
        let mut withheld = decided.withheld.iter();
        prop_assert!(withheld.all(|one| !may_be_carried_out(&paused, one) || may_be_withheld(&paused, &decided, one)));
        for (name, queue) in leaves(&decided) {
            let before = &full.queues[name];
            prop_assert_eq!((&queue.deserved, &queue.lacking), (&before.deserved, &before.lacking));
            if !is_paused(&paused, name) {
                prop_assert_eq!((&queue.allocated, &queue.quota_write), (&before.allocated, &before.quota_write));
                continue;
            }
            prop_assert!(before.allocated.fits_in(&queue.allocated));
            let quota = paused.namespaces[&name.namespace].quota.as_ref();
            let Some(write) = &queue.quota_write else { continue };
            let standing = &quota.unwrap().hard;
            prop_assert!(write.hard.iter().all(|(resource, amount)| standing.get(resource).unwrap() <= amount));
        }
    }

    /// While a pause lasts nothing else changes with time, and it ends at the instant that the plan names.
    #[test]
    fn a_pause_ends_at_the_next_change(snapshot in random::cluster(6), pauses in pauses()) {
        let mut paused = snapshot;
        change(&mut paused, |place, queue| {
            queue.paused_until = pauses[place % pauses.len()].map(Timestamp::from_seconds);
        });
        let queues = paused.namespaces.values().flat_map(|state| &state.queues);
        let end = queues.filter_map(|queue| queue.paused_until).filter(|until| *until > paused.now).min();
        let next = plan(&paused).next_change;
        prop_assert!(end.is_none() || next.is_some_and(|next| Some(next) <= end));
    }
}
