//! The protocol of the operator, every interleaving of it.

#![allow(missing_docs, reason = "tests")]

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;

use quotient_model::check::{Found, HEADING, exhaust};
use quotient_model::scenario::Scenario;
use quotient_model::scenarios::{large, small};

/// Exhausts `scenarios` on so many threads, prints a table of what was found, and fails if anything was.
fn hold(scenarios: &[Scenario], most: usize, threads: usize) {
    println!("{HEADING}");
    let share = |first: usize| {
        let scenarios = scenarios.iter().enumerate().skip(first).step_by(threads);
        scenarios.map(|(place, scenario)| (place, exhaust(scenario, most))).collect::<Vec<_>>()
    };
    let all: BTreeMap<usize, Found> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        running.into_iter().flat_map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    for found in all.values() {
        println!("{found}");
    }
    for found in all.values() {
        for (law, way) in &found.broken {
            println!("\n{}: {law}, and yet:\n{way}", found.name);
        }
    }
    let bad: Vec<&str> = all.values().filter(|found| !found.holds()).map(|found| found.name).collect();
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
