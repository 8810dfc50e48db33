//! Scenarios on a real control plane, each with one of its own.
//!
//! One program for all of them: it is linked once, and a scenario that waits leaves the machine to another. `at_pace.rs`
//! measures and runs alone. A new file is named here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

mod asks;
mod bad_days;
mod bad_input;
mod chart;
mod default_requests;
mod demo;
mod examples;
mod guards;
mod helm;
mod image;
mod kubectl;
mod ledger;
mod pod_groups;
mod preemption;
mod processes;
mod prometheus;
mod queue_job_kubectl;
mod queue_jobs;
mod queue_jobs_mixed;
mod queue_jobs_random;
mod rest_goes_on;
mod rights;
mod shares;
mod tenants;
mod testbed;
mod trees;
mod tutorial;
mod within_queue;

/// A test in a file that no program names would never run, and nobody would miss it.
#[test]
fn every_file_is_run() {
    let programs = [include_str!("cluster.rs"), include_str!("at_pace.rs")].concat();
    let entries =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).expect("the folder of this file");
    let names =
        entries.map(|entry| entry.expect("an entry of it").file_name().to_string_lossy().into_owned());
    let files = names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned));
    let forgotten: Vec<String> = files
        .filter(|file| !["cluster", "at_pace"].contains(&file.as_str()))
        .filter(|file| !programs.contains(&format!("\nmod {file};")))
        .collect();
    assert_eq!(forgotten, Vec::<String>::new(), "name them in cluster.rs");
}
