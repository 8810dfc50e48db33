//! From a plan to the writes that carry it out: pure functions of the plan and of what is seen.
//!
//! An operation is made for everything that is not as the plan says. Nothing here remembers what was tried before; what is put
//! off is decided by the executor and by the writer.

mod evictions;
mod gates;
mod limit_ranges;
mod owning_queue;
pub(crate) mod queue_jobs;
mod quotas;
mod requeues;
mod scalings;

use std::collections::BTreeSet;

use k8s_openapi::jiff::Timestamp;
use quotient_engine::names::Namespace;
use quotient_engine::plan::Plan;
use quotient_index::Index;

use crate::executor::{Class, Operation, Requeue};

/// What is seen.
pub(crate) struct Observed<'a> {
    /// Every object, as watches and replies showed it.
    pub(crate) index: &'a Index,
    /// What time it is.
    pub(crate) now: Timestamp,
    /// The controllers that have room for rejected pods.
    pub(crate) requeues: &'a [Requeue],
    /// The namespaces whose quota charges pods that do not exist, or shows whether the quota controller runs, each with
    /// whether by the second of both writes.
    pub(crate) usage_resyncs: &'a BTreeSet<(Namespace, bool)>,
}

/// Every operation of `class` that `plan` wants, in the order of the plan.
pub(crate) fn operations(class: Class, plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    match class {
        Class::LimitRange => limit_ranges::operations(plan, observed),
        Class::Quota => quotas::operations(plan, observed),
        Class::UsageResync => quotas::usage_resyncs(plan, observed),
        Class::Gate => gates::operations(plan),
        Class::Eviction => evictions::operations(plan, observed),
        Class::Requeue => requeues::operations(plan, observed),
        Class::Scaling => scalings::operations(plan),
        Class::QueueJob => queue_jobs::operations(plan, observed),
        // They tell of operations, too: see `status`.
        Class::JobStatus | Class::Status => Vec::new(),
    }
}
