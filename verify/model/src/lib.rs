//! The write protocol, every interleaving of it.
//!
//! A small world (three queues, four units, pods of one unit each) is played through by a model checker: operators that
//! see old things, die between two writes and take over from each other; writes that land late; a quota controller, a
//! scheduler, kubelets and the owners of pods, all of which act whenever they please. What operators decide comes from
//! [`quotient_engine::plan`], so what is checked is the engine, and not a second opinion on it.
//!
//! ```text
//!             sees (old)               plan()                      writes, one at a time
//!  Cluster ───────────────► Operator ─────────► Work ─► ledger ─► quotas ─► evictions ───► Cluster
//!     ▲                                                                 └── late ──┘
//!     └── quota controller, owners, scheduler, kubelets, people
//! ```
//!
//! [`Scenario`](scenario::Scenario) says how large the world is and what may go wrong, [`laws`] what has to hold,
//! [`converge`] that it ends well, [`check`] runs it and [`story`] tells the shortest way to a law that is broken.
//!
//! **Architecture invariant:** nothing here decides what the engine decides.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    reason = "never shipped: a model that goes wrong has to stop, and loudly"
)]

pub mod action;
mod canonical;
pub mod check;
pub mod cluster;
pub mod converge;
pub mod graph;
pub mod laws;
pub mod ledger;
pub mod memo;
pub mod numbers;
pub mod operator;
pub mod pods;
pub mod protocol;
pub mod rules;
pub mod scenario;
pub mod scenarios;
pub mod state_space;
pub mod story;
mod units;
mod view;
pub mod with_ledger;
pub mod world;
pub mod write;
