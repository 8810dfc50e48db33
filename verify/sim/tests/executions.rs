//! The real operator in the simulated cluster. One program for all of it: it is large, and linked once. A new file is named
//! here.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "a test fails loudly")]

mod broken;
mod every_write;
mod faults;
mod gangs;
mod guards;
mod lists;
mod sample;
mod server;
mod workloads;
