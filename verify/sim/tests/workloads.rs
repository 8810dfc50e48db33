//! The seeds' examples and other workloads, by the real operator on a simulated cluster.

use std::time::Duration;

use quotient_sim::World;
use quotient_sim::campaign::{Trial, workloads};
use quotient_sim::faults::OperatorOptions;
use quotient_sim::scenario::{Workload, workload};

use super::{settle, world_of};

/// The execution of one seed, until it is settled.
fn execution(workload: &Workload, seed: u64) -> World {
    let mut world = world_of(workload, seed, [OperatorOptions::default()]);
    let wrong = settle(workload, &mut world);
    assert_eq!(wrong, Vec::<String>::new(), "{}:\n{}", workload.name, world.trace().text());
    world
}

/// In how many executions each workload is played.
const SEEDS: u64 = 3;

#[test]
fn every_workload_ends_as_it_has_to_with_the_evictions_that_it_takes() {
    for case in workloads::all() {
        for seed in 0..SEEDS {
            let verdict = Trial { seed, ..case.reference() }.run();
            let (name, findings) = (case.workload.name, verdict.findings());
            let evictions = verdict.trace.records.iter().filter(|record| record.evicted()).count();
            assert!(
                verdict.is_clean() && case.evictions.contains(&evictions),
                "{name} #{seed}: {evictions} evictions, {findings:#?}\n{}",
                verdict.trace.text()
            );
        }
    }
}

#[test]
fn an_hour_of_rest_is_an_hour_of_leases() {
    let mut world = execution(&workload::newcomer(), 1);
    // Windows of loans that were not used for ten minutes have returned by then.
    world.run_for(Duration::from_secs(660));
    let before = world.trace().records.len();
    world.run_for(Duration::from_secs(3600));
    let trace = world.trace();
    let rest = &trace.records[before..];
    assert!(rest.iter().all(|record| record.is_lease() || record.write.is_none()), "{}", trace.text());
    // A renewal every two seconds, twenty watches that are opened anew every five minutes, and Jobs that try in vain.
    let asked = rest.iter().filter(|record| &*record.client == "quotient-0").count();
    assert!((1750..2050).contains(&asked), "{asked}");
    assert_eq!(world.cluster().operator(0).unwrap().exits(), []);
}

#[test]
fn one_seed_is_one_execution() {
    let workload = workload::newcomer();
    let (first, again) = (execution(&workload, 3).trace(), execution(&workload, 3).trace());
    assert_eq!(first.text(), again.text());
    assert_eq!(first.digest(), again.digest());
    assert_ne!(first.digest(), execution(&workload, 4).trace().digest(), "another seed is another execution");
}
