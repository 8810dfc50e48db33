//! Random histories of QueueJobs beside Deployments: they come, grow, stop and end, queues lose and gain, nodes come and go.
//! Gangs run wholly or not at all, and each that can run at all gets to its end.

use proptest::prelude::*;

use crate::effort;
use crate::job_history::{History, World, history};

/// Lets a history happen, and every gang come to its end.
fn play(history: &History) -> Result<(), TestCaseError> {
    let mut world = World::begin(&history.nodes, &history.queues);
    for (number, (event, steps)) in history.episodes.iter().enumerate() {
        world.happen(number, event);
        for _ in 0..*steps {
            world.step()?;
        }
    }
    world.all_end()
}

proptest! {
    #![proptest_config(effort::cases(1000))]

    #[test]
    fn gangs_run_wholly_and_no_gang_waits_for_ever(history in history()) {
        play(&history)?;
    }
}

proptest! {
    #![proptest_config(effort::cases(200))]

    #[test]
    fn gangs_behind_gates_run_wholly_and_none_waits_for_ever(
        mut history in history(),
        gated in proptest::collection::vec(any::<bool>(), 3),
    ) {
        for (queue, _) in history.queues.iter_mut().zip(gated).filter(|(_, gated)| *gated) {
            queue.push_str(" admission=Gate");
        }
        play(&history)?;
    }
}
