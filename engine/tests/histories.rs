//! The laws of plan and advance over random histories: whatever happens to a cluster, and in whatever order.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::Snapshot;

use crate::history::{Chronicle, History, admitted, happen, history, no_queue_starves_beside_plenty};
use crate::{effort, story};

/// What a small cluster needs at most to come to rest.
const MOST_STEPS: usize = 60;

/// After how many seconds of rest it is looked whether time alone changes something.
const PATIENCE: [i64; 4] = [31, 61, 301, 601];

static PLAYED: AtomicUsize = AtomicUsize::new(0);

/// Says how far it is, where that takes long.
fn count() {
    let played = PLAYED.fetch_add(1, Ordering::Relaxed) + 1;
    if played.is_multiple_of(1000) {
        eprintln!("{played} histories");
    }
}

/// Lets the world go on until nothing changes any more.
fn rest(world: &mut Snapshot, chronicle: &mut Chronicle) -> Result<(), TestCaseError> {
    for _ in 0..MOST_STEPS {
        let step = chronicle.step(world, true)?;
        *world = step.snapshot;
        if step.rests {
            prop_assert!(
                step.plan.is_settled(),
                "at rest with something left to do:\n{}{}",
                story::print(1, &step.plan, &[]),
                story::print_writes(&step.plan)
            );
            for (name, queue) in &step.plan.queues {
                let may_stay = |reason| {
                    !matches!(reason, ShortReason::WaitingForPreemption | ShortReason::WaitingForQuota)
                };
                prop_assert!(
                    queue.starved.is_none_or(may_stay),
                    "{} waits for ever: {:?}",
                    name,
                    queue.starved
                );
            }
            return no_queue_starves_beside_plenty(&admitted(world), &step.plan);
        }
    }
    Err(TestCaseError::fail("does not come to rest"))
}

/// Lets a history happen, and every queue come to rest at its end.
pub(crate) fn play(history: History) -> Result<(), TestCaseError> {
    count();
    let (mut world, mut chronicle) = (history.beginning, Chronicle::default());
    let mut numbers = 0..;
    let mut event = |world: &mut Snapshot, chronicle: &mut Chronicle, event| {
        chronicle.event();
        happen(world, numbers.next().unwrap(), event);
    };
    for episode in &history.episodes {
        event(&mut world, &mut chronicle, &episode.event);
        for settled in &episode.steps {
            world = chronicle.step(&world, *settled)?.snapshot;
        }
    }
    for last in &history.last {
        event(&mut world, &mut chronicle, last);
    }
    rest(&mut world, &mut chronicle)?;
    for seconds in PATIENCE {
        world.now = world.now.plus_seconds(seconds);
        rest(&mut world, &mut chronicle)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(effort::cases(200))]

    #[test]
    fn every_history_keeps_the_laws_and_comes_to_rest(history in history()) {
        play(history)?;
    }
}
