//! The protocol of the operator, every interleaving of it.

#![allow(missing_docs, reason = "tests")]

use quotient_model::check::{Found, HEADING, exhaust};
use quotient_model::scenario::Scenario;
use quotient_model::scenarios::{large, small};

/// Exhausts `scenarios`, prints a table of what was found, and fails if anything was.
fn hold(scenarios: &[Scenario], most: usize) {
    println!("{HEADING}");
    let all: Vec<Found> = scenarios
        .iter()
        .map(|scenario| {
            let found = exhaust(scenario, most);
            println!("{found}");
            found
        })
        .collect();
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
    hold(&small(), 5_000_000);
}

/// `make model`
#[test]
#[ignore = "takes minutes"]
fn large_scenarios() {
    hold(&large(), 100_000_000);
}
