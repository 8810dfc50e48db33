//! Laws of the engine, tried on random clusters, forests and histories, and against a solver of another kind.
//!
//! One program for all of them: they share what makes their clusters, are linked once, and run side by side. A new file is
//! named here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")]

mod algebra_laws;
mod cluster;
mod contents;
mod edits;
mod effort;
mod family;
mod forest;
mod guards;
mod histories;
mod history;
mod intervention_histories;
mod intra_queue_laws;
mod job_histories;
mod job_history;
mod ledger_laws;
mod mode_histories;
mod mode_laws;
mod node_laws;
mod oracle;
mod plan_laws;
mod planner;
mod random;
mod rational;
mod reference;
mod shortened_laws;
mod slot_laws;
mod story;
mod trust_laws;
mod victim_laws;
