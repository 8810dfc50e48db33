//! The protocol of the operator, every interleaving of it.

#![allow(missing_docs, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use quotient_model::check::{Found, HEADING, exhaust};
use quotient_model::scenario::Scenario;
use quotient_model::scenarios::{large, small};

/// Exhausts `scenarios` on so many threads, prints a table of what was found, and fails if anything was.
fn hold(scenarios: &[Scenario], most: usize, threads: usize) {
    println!("{HEADING}");
    let waiting = Mutex::new(scenarios.iter().enumerate());
    let next = || waiting.lock().unwrap().next();
    let exhausted = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((place, scenario)) = next() {
            let found = exhaust(scenario, most);
            exhausted.lock().unwrap().insert(place, found);
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let all: Vec<Found> = exhausted.into_inner().unwrap().into_values().collect();
    for found in &all {
        println!("{found}");
    }
    for found in &all {
        for (law, way) in &found.broken {
            println!("\n{}: {law}, and yet:\n{way}", found.name);
        }
    }
    let bad: Vec<&str> = all.iter().filter(|found| !found.holds()).map(|found| found.name).collect();
    assert_eq!(bad, Vec::<&str>::new(), "everything holds, was exhausted, and happened somewhere");
}

#[test]
fn small_scenarios() {
    hold(&small(), 5_000_000, 2);
}

/// `make model`
#[test]
#[ignore = "takes minutes"]
fn large_scenarios() {
    // One at a time: each takes gigabytes.
    hold(&large(), 100_000_000, 1);
}
