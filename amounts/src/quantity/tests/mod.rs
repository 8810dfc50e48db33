//! What quantities promise.

mod laws;
mod reference;
mod vectors;
