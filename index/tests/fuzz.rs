//! Nonsense in, a plan out: manifests are damaged at random, read, decided on and played, and nothing panics.
//!
//! Whatever still decodes as its kind goes through the index and the engine, in the company of a queue that no object
//! touches: that one must keep its plan. `make fuzz` tries many; every failure prints the number that repeats it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that misses something fails, as it should"
)]

#[path = "fuzz/damage.rs"]
mod damage;
#[path = "fuzz/world.rs"]
mod world;

use damage::{Dice, damaged};
use quotient_advance::{advance, settle};
use quotient_engine::planner::plan;
use quotient_snapshot::names::QueueName;
use world::{bystander, index_of, manifests};

/// How many damaged clusters a test run tries, unless `FUZZ_CASES` says otherwise.
const USUAL: u64 = 400;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn damaged_manifests_neither_panic_nor_harm_others() {
    let all = manifests();
    let first = number("FUZZ_FIRST").unwrap_or(0);
    let cases = number("FUZZ_CASES").unwrap_or(USUAL);
    for case in first..first.saturating_add(cases) {
        let outcome = std::panic::catch_unwind(|| try_one(&all, case));
        if let Err(panic) = outcome {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            panic!("{text}\nrepeat it with FUZZ_FIRST={case} FUZZ_CASES=1");
        }
        if cases > USUAL && case % 10_000 == 9_999 {
            eprintln!("{} damaged clusters, no panic", case + 1 - first);
        }
    }
}

fn try_one(all: &[serde_json::Value], case: u64) {
    let mut dice = Dice::new(case);
    let mut objects: Vec<serde_json::Value> = all.to_vec();
    for _ in 0..=dice.below(6) {
        let at = dice.below(objects.len());
        let damaged = damaged(&objects[at], &mut dice);
        // Beside the sound one or in its place.
        if dice.below(2) == 0 {
            objects[at] = damaged;
        } else {
            objects.push(damaged);
        }
    }
    let mut index = index_of(&objects);
    let mut snapshot = index.snapshot(world::now());
    let first = plan(&snapshot);
    assert!(first.queues.len() + first.stalled.len() > 0, "not even the bystander was planned");
    let (namespace, name) = bystander();
    let mine = first.queues.get(&QueueName::new(namespace, name));
    let mine = mine.unwrap_or_else(|| panic!("{namespace}/{name} lost its share: {:?}", first.stalled));
    assert!(mine.used.fits_in(&mine.demand.max(&mine.used)));
    // Its pods are within its guarantee: they stay, whatever others are made of, unless nodes were lost with it.
    let victim =
        first.evictions.iter().chain(&first.waiting).find(|one| one.queue.namespace.as_str() == namespace);
    assert!(victim.is_none() || !mine.unmeetable.is_empty(), "a bystander's pod was to go: {victim:?}");
    for _ in 0..4 {
        let (settled, plan) = settle(&snapshot);
        snapshot = advance(&settled, &plan).snapshot;
    }
}
