//! The real operator in the simulated cluster. One program for all of it: it is large, and linked once. A new file is named
//! here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "a test fails loudly")]

mod broken;
mod faults;
mod gangs;
mod guards;
mod lists;
mod sample;
mod server;
mod workloads;

use quotient_sim::World;
use quotient_sim::faults::OperatorOptions;
use quotient_sim::operators::Exit;
use quotient_sim::scenario::Workload;

/// The world of a seed, with what `workload` begins with and these operators.
fn world_of(workload: &Workload, seed: u64, operators: impl IntoIterator<Item = OperatorOptions>) -> World {
    let world = World::new(seed);
    workload.build(&world);
    for options in operators {
        world.start(options);
    }
    world
}

/// Lets `workload` happen until it is settled. Says what went wrong: every fault has to hit, and no operator may panic.
fn settle(workload: &Workload, world: &mut World) -> Vec<String> {
    let settled = workload.run(world);
    let mut wrong: Vec<String> = settled.is_none().then(|| "never settles".to_owned()).into_iter().collect();
    for operator in world.cluster().operators() {
        if operator.faults_left() > 0 {
            wrong.push("a fault hit nothing".to_owned());
        }
        wrong.extend(operator.exits().into_iter().filter(Exit::is_panic).map(|exit| exit.why));
    }
    wrong
}

/// What is not as it has to be at the end of `workload`, its evictions included.
fn differences(workload: &Workload, world: &World) -> Vec<String> {
    let mut wrong = workload.differences(world);
    if world.evictions() != workload.evictions {
        wrong.push(format!("{} evictions", world.evictions()));
    }
    wrong
}
