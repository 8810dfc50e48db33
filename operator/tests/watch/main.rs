//! What is watched is there: every metric in alerts, recording rules and dashboards is exported with those labels, and
//! every alert has its runbook.
//!
//! Whether alerts fire when they should is promtool's to say: `e2e/tests/prometheus.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test that panics fails, as it should"
)]

mod alerts;
mod dashboards;
mod exported;
mod promql;
