//! The demo, the benchmarks, and what the end-to-end tests share.
//!
//! **Architecture invariant**: what is tested on the test bed (the operator, its peers, the demo) comes in from outside as
//! programs, manifests and arguments, so that a check shares no code with what it checks.

pub mod bench;
pub mod demo;
pub mod image;
pub mod quotient;

pub use quotient_testbed as testbed;
