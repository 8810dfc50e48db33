//! Scenarios as text: what a test says of a cluster, and what it is told back.
//!
//! ```text
//! node n1 cpu=6 memory=15Gi
//! queue a weight=2 request=cpu:5,memory:10Gi
//! quota a cpu=3 memory=9Gi
//! pod a/p1 cpu=2 memory=1Gi node=n1 started=10
//! ```
//!
//! A queue has the name of its namespace unless `name=` says otherwise. Pods run on no particular node unless
//! told `node=`, `pending` or `terminating`; times are seconds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a scenario that makes no sense must stop the test")]
#![allow(dead_code, reason = "every test file uses its part of it")]

mod parse;
mod print;

use quotient_engine::advance::{advance, settle};
use quotient_engine::plan::plan;
use quotient_engine::snapshot::Snapshot;

pub(crate) use parse::parse;
pub(crate) use print::{print, print_writes};

/// Decides once on `scenario` as it stands, and tells what is to be written, evicted and waited for.
pub(crate) fn decide(scenario: &str) -> String {
    let plan = plan(&parse(scenario));
    print(1, &plan, &[]) + &print_writes(&plan)
}

/// Plays `scenario` to its end and tells every step.
pub(crate) fn play(scenario: &str) -> String {
    let mut snapshot: Snapshot = parse(scenario);
    let mut told = String::new();
    for step in 1..=50 {
        let (settled, plan) = settle(&snapshot);
        let advanced = advance(&settled, &plan);
        told.push_str(&print(step, &plan, &advanced.started));
        if plan.evictions.is_empty() && advanced.started.is_empty() {
            return told;
        }
        snapshot = advanced.snapshot;
    }
    told + "does not come to rest\n"
}
