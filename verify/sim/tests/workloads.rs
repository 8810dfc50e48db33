//! The seeds' examples and other workloads, by the real operator on a simulated cluster.

use std::time::Duration;

use quotient_sim::World;
use quotient_sim::campaign::workloads;
use quotient_sim::faults::OperatorOptions;
use quotient_sim::scenario::{Workload, workload};

use super::{differences, settle, world_of};

/// The execution of one seed, until it is settled.
fn execution(workload: &Workload, seed: u64) -> World {
    let mut world = world_of(workload, seed, [OperatorOptions::default()]);
    let wrong = settle(workload, &mut world);
    assert_eq!(wrong, Vec::<String>::new(), "{}:\n{}", workload.name, world.trace().text());
    world
}

fn check(workload: &Workload) {
    for seed in 0..5 {
        let mut world = execution(workload, seed);
        let printed = |world: &World| format!("seed {seed}:\n{}", world.trace().text());
        assert_eq!(differences(workload, &world), Vec::<String>::new(), "{}", printed(&world));
        assert_eq!(world.cluster().operator(0).unwrap().exits(), []);

        // At the fixed point nothing is written but the Lease.
        let before = world.trace().records.len();
        world.run_for(Duration::from_secs(60));
        let trace = world.trace();
        let more =
            trace.records[before..].iter().filter(|record| record.write.is_some() && !record.is_lease());
        assert_eq!(more.count(), 0, "{}", printed(&world));
    }
}

#[test]
fn two_queues_share_as_they_weigh() {
    check(&workload::two_queues());
}

#[test]
fn a_newcomer_gets_its_share_at_the_price_of_two_pods() {
    check(&workload::newcomer());
}

#[test]
fn a_budget_turns_evictions_to_others() {
    check(&workload::guarded_by_a_budget());
}

#[test]
fn observed_demand_takes_back_its_half() {
    check(&workloads::named("lent").unwrap().workload);
}

#[test]
fn a_deleted_queue_leaves_all_to_the_other() {
    check(&workload::queue_deleted());
}

#[test]
fn a_new_node_is_shared() {
    check(&workload::node_added());
}

#[test]
fn a_branch_settles_its_affairs_within() {
    check(&workload::grandchildren());
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
}

#[test]
fn one_seed_is_one_execution() {
    let workload = workload::newcomer();
    let (first, again) = (execution(&workload, 3).trace(), execution(&workload, 3).trace());
    assert_eq!(first.text(), again.text());
    assert_eq!(first.digest(), again.digest());
    assert_ne!(first.digest(), execution(&workload, 4).trace().digest(), "another seed is another execution");
}
