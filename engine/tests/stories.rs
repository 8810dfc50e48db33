//! Golden stories: a cluster as a few lines of text in, what happens as text out.
//!
//! One program for all of them; a new file is named here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")]

mod additional_victims;
mod advance;
mod budgets;
mod cheapest_node;
mod choices;
mod cluster;
mod damping;
mod demand;
mod everyday;
mod fences;
mod forged;
mod gangs;
mod gates;
mod growth_and_deletion;
mod guarantees;
mod hostile;
mod idle;
mod incomplete_gangs;
mod intra_queue;
mod ledger;
mod modes;
mod nodes;
mod nodes_for_pods;
mod order;
mod queue_jobs;
mod rules;
mod seeds;
mod shortened;
mod slots;
mod story;
mod stuck_pods;
mod trees;
mod trust;
mod unmet;
mod victims;
mod whole_pods;
mod wide;
