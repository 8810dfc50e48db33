//! The perturbations that have names, P01 to P81: what people who run such controllers have seen go wrong.
//!
//! ```text
//!   Named ──plays──►  Trial ──sim──► trace ──check──► Verdict
//!     └── or ──────►  the tests that play it where it makes sense: on the real API server, in the engine, in the index
//! ```
//!
//! Families strike every write of every workload; here one fault is put where it hurts most, with what is expected of
//! exactly that.

mod cluster;
mod crashes;
mod errors;
mod gangs;
mod hostile;
mod leaders;
mod numbers;
mod occasion;
mod people;
mod play;
mod victims;
mod views;

use std::fmt::Write as _;

pub use occasion::Occasion;

use super::Trial;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// `P01`.
    pub name: &'static str,
    /// What is done.
    pub what: &'static str,
    /// Which promises it attacks, as `docs/evidence/proofs.md` numbers them.
    pub attacks: &'static str,
    /// How it is played in the simulation, if it is.
    plays: fn() -> Vec<Trial>,
    /// The tests that play it elsewhere: file and function, as in `e2e/tests/ledger.rs: quotas_follow_the_ledger`.
    pub tests: &'static [&'static str],
}

impl Named {
    /// How it is played in the simulation; nothing if it is not.
    pub fn plays(&self) -> Vec<Trial> {
        (self.plays)()
    }

    const fn and(self, tests: &'static [&'static str]) -> Self {
        Self { tests, ..self }
    }
}

const fn here(
    name: &'static str,
    what: &'static str,
    attacks: &'static str,
    plays: fn() -> Vec<Trial>,
) -> Named {
    Named { name, what, attacks, plays, tests: &[] }
}

/// All of them, in order.
pub fn all() -> Vec<Named> {
    [
        crashes::ALL,
        views::ALL,
        errors::ALL,
        leaders::ALL,
        victims::ALL,
        people::ALL,
        numbers::ALL,
        hostile::ALL,
        cluster::ALL,
    ]
    .concat()
}

/// The table that `docs/evidence/faults.md` shows.
pub fn markdown() -> String {
    let mut text = String::from("| | what happens | attacks | plays | and |\n|---|---|---|---:|---|\n");
    for Named { name, what, attacks, plays, tests } in all() {
        let plays = Some(plays().len()).filter(|count| *count > 0).map(|count| count.to_string());
        let plays = plays.unwrap_or_default();
        let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
        let _ = writeln!(text, "| {name} | {what} | {attacks} | {plays} | {} |", tests.join(", "));
    }
    text
}
