//! What a pod requests, as ResourceQuota charges it and the scheduler reserves it.
//!
//! ```text
//!  starting:   │ init 1 │ sidecar │ init 2 │ …      the most that any step needs, sidecars before it included
//!  running:    │ sidecar + … + container + …        all that run together
//!              └── the larger of both, per resource
//!                    └── what the pod as a whole states instead, for cpu, memory and huge pages
//!                          └── plus the overhead of its runtime class
//! ```
//!
//! The rules are those of `PodRequests` in `k8s.io/component-helpers/resource` 0.36 with the options that quota
//! admission gives it. Every pod counts through them, so an amount that differs here is a quota that is wrong.

mod defaultable;
mod pod;
mod read;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use defaultable::Defaultable;
pub use pod::{Container, InitContainer, Observed, PodRequests};
pub(crate) use read::{effective_requests, shape, unspecified};
pub use read::{unreadable, unreadable_in_template};
pub(crate) use template::TemplateRequests;
