//! What the requests of a pod promise.

mod laws;
mod scenario;
mod vectors;
