//! Deserved shares, grants and victims: a pure function from what is seen to what is to be done.
//!
//! ```text
//!             capacity      demand        whole pods, idle part      quotas, pods
//!                 │            │                    │                     │
//!  Snapshot ──►  shares  ──► Deserved ───────────► grants ──► Allocated, Preempting ──► victims ──► Plan
//!                                                                                           │
//!  Snapshot ◄─────────────────────────────  advance  ◄──────────────────────────────────────┘
//! ```
//!
//! [`plan`](planner::plan) takes a [`Snapshot`](snapshot::Snapshot) and returns a [`Plan`](plan::Plan) that names every quota to
//! write and every pod to evict, with the numbers and the reason. The crate `quotient-advance` is a small model of what the
//! cluster does with a plan; the two repeated are `kubectl-quotient simulate` and the stage of most tests.
//!
//! **Architecture invariant:** nothing here knows Kubernetes, the network, a clock, randomness or threads.
//! The same snapshot gives the same plan, whatever order its parts were found in.

#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")
)]

pub use quotient_snapshot::{self as snapshot, amounts, labels, ledger, names, reasons, stable_hash, time};

mod candidates;
mod capacity;
mod choice;
mod cluster;
mod demand;
mod gates;
mod grants;
pub mod guarantee;
mod incomplete_gangs;
mod intra_queue;
mod keyed;
mod leaf;
mod nodes;
pub mod plan;
pub mod planner;
mod pod_set;
pub mod shares;
pub mod slots;
mod targets;
mod total;
mod tree;
mod usage;

pub use choice::Budgets;
pub use intra_queue::removal::{ordinal, removal_order};
