//! Pods: what they request and where they may run, how far they have come, and what protects them.

mod annotations;
mod kind;
mod life;
mod metadata;
