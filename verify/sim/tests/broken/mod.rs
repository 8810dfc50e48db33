//! The checker checked: operators that are broken in one way each, all of which have to be caught; and the real one, which
//! has to break no promise where each of them is caught.
//!
//! The operator is the one that ships. What is broken is a layer between it and the server, so that the cluster sees another
//! one. `cargo test --workspace --test executions broken -- --nocapture` prints the table of `docs/evidence/proofs.md`.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test: what overflows or cannot be fails it, and its table is read by people"
)]

mod layers;
mod mutants;
mod setup;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use mutants::{ALL, Mutant};

/// The most executions in which one that is broken may pass.
const SEEDS: u64 = 8;

/// The first seed in which it is caught, and the finding that it had to be caught by.
fn caught(mutant: &Mutant) -> Result<(u64, String), String> {
    let mut others = String::new();
    for seed in 0..SEEDS {
        let findings = mutant.setup.play(seed, Some(mutant.layer)).findings();
        if let Some(finding) = findings.iter().find(|each| each.starts_with(mutant.finding)) {
            return Ok((seed, finding.clone()));
        }
        let _ = write!(others, "\n  seed {seed}: {findings:#?}");
    }
    Err(format!("{}: {} has not caught it{others}", mutant.what, mutant.finding))
}

/// The finding without the place in the trace.
fn printed(finding: &str) -> String {
    match finding.split_once(" ms") {
        Some((promise, message)) => {
            let promise = promise.split(" at ").next().unwrap_or_default();
            format!("{promise}: {}", message.split_once(": ").map_or(message, |(_, message)| message))
        }
        None => finding.to_owned(),
    }
}

/// Does all of them, on two threads, and keeps the order.
fn each<T: Sync, R: Send>(all: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((place, item)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    all.get(place).map(|item| (place, item))
                } {
                    let result = one(item);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn every_broken_operator_is_caught_and_the_real_one_is_not() {
    let outcomes = each(ALL, caught);
    let mut table = String::from("| what is broken | where | seed | what catches it |\n|---|---|---:|---|\n");
    let mut missed = Vec::new();
    let mut control = BTreeSet::new();
    for (mutant, outcome) in ALL.iter().zip(outcomes) {
        match outcome {
            Ok((seed, finding)) => {
                control.extend((0..=seed).map(|seed| (mutant.setup, seed)));
                let Mutant { what, setup, .. } = mutant;
                let _ = writeln!(table, "| {what} | {setup} | {seed} | {} |", printed(&finding));
            }
            Err(why) => missed.push(why),
        }
    }
    println!("{table}");
    assert!(missed.is_empty(), "{}", missed.join("\n"));

    let control: Vec<_> = control.into_iter().collect();
    let findings = each(&control, |(setup, seed)| setup.play(*seed, None).findings());
    let blamed: Vec<_> = control.iter().zip(findings).filter(|(_, found)| !found.is_empty()).collect();
    assert!(blamed.is_empty(), "of the real operator: {blamed:#?}");
    println!(
        "{} broken operators caught; the real one keeps all promises in {} executions",
        ALL.len(),
        control.len()
    );
}
