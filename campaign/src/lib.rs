//! The fault campaign: workloads, what can go wrong with them, and what must be true all the same.
//!
//! ```text
//!   Workload  ──reference──►  its writes, counted
//!      │                            │
//!      └──────►  Perturbation  ◄────┘   one fault at one place, or a few by chance; a line of text names it
//!                     │
//!                   Trial ──sim──► trace ──judge──► Verdict
//! ```
//!
//! **Architecture invariant:** a perturbation is its [`id`](Perturbation::id): printed when it fails, and enough to play it
//! again.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a campaign is a test: what overflows or cannot be fails it, as it should"
)]

mod campaign;
mod family;
pub mod named;
mod perturbation;
mod storms;
mod summary;
mod swarm;
mod trial;
pub mod workloads;

pub use campaign::{Campaign, Failure};
pub use family::{Family, Place};
pub use named::{Named, Occasion};
pub use perturbation::Perturbation;
pub use summary::Summary;
pub use trial::{Expectation, Trial, Verdict};
pub use workloads::Case;
