//! Test beds on which nothing but Kubernetes runs, in one program that is linked once.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

mod kubernetes;
mod processes;
