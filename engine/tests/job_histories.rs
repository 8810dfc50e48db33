//! Random histories of QueueJobs beside Deployments: they come, grow, stop and end, queues lose and gain, nodes come and go.
//! Gangs run wholly or not at all, and each that can run at all gets to its end.

use proptest::prelude::*;

use crate::effort;
use crate::job_history::{World, history};

proptest! {
    #![proptest_config(effort::cases(1000))]

    #[test]
    fn gangs_run_wholly_and_no_gang_waits_for_ever(history in history()) {
        let mut world = World::begin(&history.beginning);
        for (number, (event, steps)) in history.episodes.iter().enumerate() {
            world.happen(number, event);
            for _ in 0..*steps {
                world.step()?;
            }
        }
        world.all_end()?;
    }
}
