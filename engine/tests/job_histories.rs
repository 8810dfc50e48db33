//! Random histories of QueueJobs beside Deployments: they come, grow, stop and end, queues lose and gain, nodes come and go.
//! Gangs run wholly or not at all, and whoever can run at all gets to its end.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that overflows or misses something fails, as it should"
)]

mod effort;

mod job_history;

use job_history::{World, history};
use proptest::prelude::*;

proptest! {
    #![proptest_config(effort::cases(1000))]

    #[test]
    fn gangs_run_wholly_and_nobody_waits_for_ever(history in history()) {
        let mut world = World::begin(&history.beginning);
        for (number, (event, steps)) in history.episodes.iter().enumerate() {
            world.happen(number, event);
            for _ in 0..*steps {
                world.step()?;
            }
        }
        world.everybody_ends()?;
    }
}
