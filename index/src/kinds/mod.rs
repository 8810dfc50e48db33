//! What the index does with the objects of each kind: how they come in, and what it is asked of them.
//!
//! Imports run one way: what is kept of an object (`nodes`, `quotas`, …), the namespaces that hold it, the index, and then
//! what changes it: this folder, `pods`, `owners` and `workload_kinds`.

mod budgets;
mod deployments;
mod kind;
mod ledger;
mod limit_ranges;
mod namespaces;
mod nodes;
mod pod_groups;
mod priority_classes;
mod queue_jobs;
mod queues;
mod quotas;
mod skipped;

pub use kind::Kind;
