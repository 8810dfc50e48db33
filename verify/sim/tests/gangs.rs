//! Two gangs whose pods are created in turns, in any order, on room for one.

use std::collections::BTreeSet;
use std::time::Duration;

use quotient_crds::names::{GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION};
use quotient_sim::World;
use quotient_sim::campaign::workloads::gated;
use quotient_sim::faults::OperatorOptions;
use quotient_sim::objects::{Kind, object};
use quotient_sim::random::Random;
use quotient_sim::scenario::build::{self, created, deleted, seconds};
use serde_json::json;

/// In how many orders, unless `QUOTIENT_GANG_ORDERS` says how many: `make faults` plays 1,000.
const ORDERS: u64 = 50;

/// How many pods a gang has.
const SIZE: usize = 8;

fn orders() -> u64 {
    std::env::var("QUOTIENT_GANG_ORDERS").ok().map_or(ORDERS, |text| text.parse().unwrap())
}

/// The names of all pods, in an order that the seed decides.
fn shuffled(random: &mut Random) -> Vec<String> {
    let mut names: Vec<String> =
        ["x", "y"].iter().flat_map(|gang| (0..SIZE).map(move |number| format!("{gang}-{number}"))).collect();
    for place in (1..names.len()).rev() {
        names.swap(place, usize::try_from(random.below(place as u64 + 1)).unwrap());
    }
    names
}

/// The names of the pods that run, or of all that are let in.
fn pods(world: &World, counts: fn(&serde_json::Value) -> bool) -> BTreeSet<String> {
    world.state(|state| {
        let pods = state.store.list(Kind::Pod, Some("team-1")).filter(|(_, pod)| counts(pod));
        pods.map(|(key, _)| key.name.to_string()).collect()
    })
}

fn running(world: &World) -> BTreeSet<String> {
    pods(world, |pod| object::phase(pod) == "Running" && !object::is_leaving(pod))
}

/// Lets time pass in small steps until `done`; at no time are pods of both gangs let in.
fn until(world: &mut World, what: &str, seed: u64, done: impl Fn(&World) -> bool) {
    for _ in 0..6_000 {
        let let_in = pods(world, |pod| !quotient_sim::server::is_gated(pod));
        let gangs: BTreeSet<&str> = let_in.iter().map(|name| &name[..1]).collect();
        assert!(gangs.len() < 2, "order {seed}: {let_in:?} are let in");
        if done(world) {
            return;
        }
        world.run_for(Duration::from_millis(10));
    }
    panic!("order {seed}: {what} does not happen:\n{}", world.trace().text());
}

fn check(seed: u64) {
    let mut random = Random::of(seed, "orders");
    let mut world = World::new(seed);
    world.create(Kind::Node, build::node("node-1", "8", "8Gi"));
    world.create(Kind::Namespace, build::namespace("team-1"));
    let (kind, queue) = gated::queue("team-1");
    world.create(kind, queue);
    world.start(OperatorOptions::default());
    world.run_for(seconds(15));
    for name in shuffled(&mut random) {
        let mut pod = build::pod("team-1", &name, &build::work("1", "1Gi"));
        let annotations = json!({GANG_ANNOTATION: &name[..1], GANG_MIN_AVAILABLE_ANNOTATION: "8"});
        pod["metadata"]["annotations"] = annotations;
        world.act(created(Kind::Pod, pod));
        world.run_for(Duration::from_millis(random.below(200)));
    }
    until(&mut world, "one gang runs", seed, |world| running(world).len() == SIZE);
    let first = running(&world);
    // They end one after the other, and none of the other gang comes in between.
    for name in &first {
        world.act(deleted(Kind::Pod, "team-1", name));
        world.run_for(Duration::from_millis(random.below(500)));
    }
    until(&mut world, "the other gang runs", seed, |world| running(world).len() == SIZE);
    assert!(running(&world).is_disjoint(&first), "order {seed}");
}

#[test]
fn one_gang_runs_and_then_the_other_in_any_order() {
    (0..orders()).for_each(check);
}
