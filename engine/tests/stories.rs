//! Golden stories: a cluster as a few lines of text in, what happens as text out.
//!
//! One program for all of them; a new file is named here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")]

mod advance;
mod budgets;
mod choices;
mod cluster;
mod damping;
mod demand;
mod gangs;
mod growth_and_deletion;
mod hardening;
mod idle;
mod ledger;
mod nodes;
mod order;
mod queue_jobs;
mod rules;
mod seeds;
mod slots;
mod story;
mod trees;
mod unmet;
mod victims;
mod whole_pods;
mod within;

/// A test in a file that no program names would never run, and nobody would miss it.
#[test]
fn every_file_is_run() {
    let programs = [include_str!("stories.rs"), include_str!("laws.rs"), include_str!("speed.rs")].concat();
    let entries =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).expect("the folder of this file");
    let names =
        entries.map(|entry| entry.expect("an entry of it").file_name().to_string_lossy().into_owned());
    let files = names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned));
    let forgotten: Vec<String> = files
        .filter(|file| !["stories", "laws", "speed"].contains(&file.as_str()))
        .filter(|file| !programs.contains(&format!("\nmod {file};")))
        .collect();
    assert_eq!(forgotten, Vec::<String>::new(), "name them in stories.rs or laws.rs");
}
