//! Kubernetes objects in, slim entries kept, snapshots for the engine out.
//!
//! ```text
//!  watches, replies ─┐                  ┌── namespaces: pods, owners, budgets, ──┐
//!                    ├─► Index::apply ──┤       Queues, quotas, labels           ├─► Index::snapshot(now) ─► engine
//!  manifests ────────┘   Index::delete  └── nodes; priority classes ─────────────┘
//!                        Index::relist_…              ▲
//!        what was just done: set_ledger, pod_evicted, eviction_refused, remember
//! ```
//!
//! A pod of 58 kB of objects becomes an entry of about 200 bytes, stored in exactly the form that the engine
//! reads. Snapshots share those entries: what has not changed since the last snapshot is not copied, and what
//! changes while a snapshot is alive is copied once, a namespace at a time.
//!
//! **Architecture invariant:** nothing here waits, reads a clock or sends a request. The operator feeds the
//! index from watches, `kubectl-quotient simulate` from files; both get the same snapshot for the same objects.
//!
//! **Architecture invariant:** the index holds what the API server said last, and over it what was granted
//! and done and not seen yet. Feeding it the same objects again, in any order, ends in the same snapshot. One fact outlives
//! the version that told it: that a Job had a Ready pod.

mod decoded;
mod error_path;
mod gangs;
mod index;
mod interned;
mod kinds;
mod labels;
mod lean_pod;
pub mod limit_ranges;
#[cfg(test)]
mod memory;
mod meta;
mod metadata;
mod namespace;
pub mod nodes;
mod overlays;
mod owner_references;
mod owners;
mod placement;
pub mod pod_requests;
pub mod pods;
mod priority_classes;
pub mod queue_jobs;
pub mod queues;
pub mod quotas;
mod reading;
mod selector;
mod settings;
pub mod sizes;
mod skipped;
mod tables;
mod workload_kinds;

pub use decoded::{Decoded, Undecodable};
pub use gangs::{POD_GROUPS, PodGroup, PodGroupApi};
pub use index::{Index, Kept};
pub use kinds::Kind;
pub use meta::{ResourceVersion, timestamp};
pub use owners::has_ended as job_has_ended;
pub use reading::{UnreadableQuantity, governable};
pub use settings::IndexSettings;
pub use skipped::SkippedObject;
pub use tables::ListLoss;
pub use workload_kinds::{WorkloadKind, WorkloadKindError, WorkloadObject};
