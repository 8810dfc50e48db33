//! Planning takes about as much work as it took before.
//!
//! `baselines.txt` says how much, in thousandths of a piece of work that is done in the same run, so that it holds on
//! slow machines too. `make speed WRITE=1` writes it anew; the commit says why.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "a test that overflows fails, as it should"
)]

mod clusters;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use clusters::effort::{calibration, measure};
use quotient_advance::keep;
use quotient_engine::planner::{Planner, plan};

const BASELINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/baselines.txt");

/// How many times the work of before is a defect. Machines differ by what is in their caches.
const MOST: u128 = 25;
const IN: u128 = 10;

/// Below this, in thousandths, it is noise.
const NOISE: u128 = 100;

fn baselines() -> BTreeMap<String, u128> {
    let text = std::fs::read_to_string(BASELINES).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.map(|(work, what)| (what.to_owned(), work.parse().unwrap())).collect()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "only optimized code has a speed: make speed")]
fn planning_takes_as_much_work_as_before() {
    let (_, unit) = measure(9, calibration);
    let relative = |time: Duration| time.as_nanos() * 1_000 / unit.as_nanos();
    let mut measured: Vec<(String, u128)> = Vec::new();
    for story in clusters::STORIES {
        let snapshot = (story.cluster)();
        let (_, median) = measure(7, || plan(&snapshot));
        measured.push((story.name.to_owned(), relative(median)));
        if story.name == "large at rest" {
            // A planner repeats its answer as soon as the snapshot has what it wants remembered.
            let (mut snapshot, mut planner) = (snapshot, Planner::new());
            let first = planner.plan(&snapshot);
            keep(&mut snapshot, &first);
            planner.plan(&snapshot);
            let (_, median) = measure(7, || planner.plan(&snapshot));
            measured.push((format!("{}, unchanged", story.name), relative(median)));
        }
    }
    if std::env::var_os("WRITE").is_some_and(|write| !write.is_empty()) {
        let mut text =
            "# Processor time of one plan (median), in thousandths of the calibration's.\n".to_owned();
        for (what, work) in &measured {
            writeln!(text, "{work} {what}").unwrap();
        }
        std::fs::write(BASELINES, text).unwrap();
        return;
    }
    let before = baselines();
    let slower: Vec<String> = measured
        .iter()
        .filter(|(what, work)| before.get(what).is_none_or(|before| work * IN > (*before).max(NOISE) * MOST))
        .map(|(what, work)| format!("{what}: {work} instead of {:?}", before.get(what)))
        .collect();
    assert!(slower.is_empty(), "in thousandths of {unit:?}: {slower:#?}");
}
