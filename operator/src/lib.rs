//! The operator: watches the cluster, asks the engine, writes quotas and evictions.
//!
//! ```text
//!  nodes, pods, owners, budgets, Queues, quotas     ┌─► ledger ─► quotas ─► evictions, gates   (one writer, the leader's)
//!        │ private watches                          │
//!        ▼                                          │
//!      View ──► debounce ──► snapshot ──► engine ──►┼─► statuses              (behind, newest wins)
//!   (one index)                           (plan)    └─► events                (behind, bounded)
//!        ▲                                               │
//!        └──────────── replies to our own writes ────────┘
//! ```
//!
//! **Architecture invariant:** nothing is decided here. The plan says what to write and which pods to evict; it is a pure
//! function of the snapshot; this crate sees, carries out and reports.
//!
//! **Architecture invariant:** nothing is remembered outside the API server that a decision depends on. Killing
//! the process between any two writes and starting another ends in the same state; what is kept in memory (waits
//! after failures, what was reported) only saves requests.
//!
//! **Architecture invariant:** every call to the API server has a timeout, and a call whose answer is lost counts
//! as perhaps carried out.

#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")
)]

mod alarm;
pub mod answer;
pub mod args;
mod certificate;
pub mod client;
pub mod clock;
mod connections;
pub mod context;
pub mod cycle;
pub mod decisions;
pub mod events;
mod executor;
pub mod failed;
pub mod guards;
pub mod health;
pub mod http;
pub mod identity;
pub mod label_selector;
pub mod lease;
pub mod ledger;
mod lock;
pub mod logging;
mod message;
pub mod metrics;
mod offered;
mod operations;
pub mod print;
pub mod reclaims;
pub mod rights;
mod run;
pub mod scrape;
pub mod settings;
pub mod slots;
mod stated_capacity;
pub mod status;
#[cfg(test)]
mod tests;
pub mod view;
pub mod watch;
pub mod writer;

pub use run::{RunError, run};
