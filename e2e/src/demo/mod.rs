//! `make demo`: the first two examples of the documents that Quotient implements, played on a real control plane.
//!
//! Everything shown is what `kubectl` says. Every act waits for the numbers that it is about, so a demo that ends
//! is also a test that passed.

mod acts;
mod narrator;

pub use acts::{Demo, play};
pub use narrator::Narrator;
