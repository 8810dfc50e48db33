//! The test bed of Quotient: a real Kubernetes control plane as plain processes on loopback.
//!
//! **Architecture invariant**: `testbed` knows Kubernetes and nothing of Quotient. What is tested on it (the
//! operator, its peers, the demo) comes in from outside as programs, manifests and arguments, so that the judge
//! shares no code with the judged.

pub mod bench;
pub mod demo;
pub mod image;
pub mod look;
pub mod measured;
pub mod quotient;
pub mod scale;
pub mod testbed;
