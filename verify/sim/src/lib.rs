//! A simulated cluster: an API server, the controllers that matter, nodes, and the real operator, in one thread and in
//! simulated time.
//!
//! ```text
//!   World ─── seed ───► one execution, always the same
//!     │
//!     ├── Server   objects, versions, admission by quota, eviction, watches          server/
//!     ├── controllers   quota, Job, ReplicaSet, StatefulSet and budget controllers,
//!     │            scheduler, kubelets, garbage collection: one agenda, one task     controllers/
//!     ├── operators  quotient_operator::run on a client of its own: a link that
//!     │            may be slow, stale, cut or lying                                  operators/, faults/
//!     └── Trace    every request and every write, before and after                   trace/
//! ```
//!
//! **Architecture invariant:** the operator is the one that ships. It is given another clock and another connection,
//! and nothing else.
//!
//! **Architecture invariant:** one seed, one execution. Nothing here reads the wall clock, a random number that is not
//! the seed's, or the order of a hash map.
//!
//! **Architecture invariant:** a check shares no code with what it checks. What pods are charged, which pods a quota admits
//! and what a budget allows is read here from the objects, not by the operator's index.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a simulation is a test: what overflows or cannot be fails it, as it should"
)]
#![allow(clippy::similar_names, reason = "a link has lives")]

pub mod campaign;
pub mod clock;
pub mod controllers;
pub mod faults;
pub mod objects;
pub mod operators;
pub mod random;
pub mod scenario;
pub mod server;
pub mod trace;

pub use scenario::World;
