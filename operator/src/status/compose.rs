//! One queue's status from a plan.

use std::collections::BTreeSet;

use k8s_openapi::jiff::Timestamp;
use quotient_crds::{PodCounts, QueueStatus, StatusSummary, merge_conditions};
use quotient_engine::amounts::{Amounts, Bounds, Resource};
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan, Reach};

use super::conditions::{self, Circumstances};
use super::remembered;
use super::state::state;
use super::unmet;
use crate::message::{count, texts};
use crate::reclaims;

/// A plan, and what about it concerns every queue's status.
#[derive(Debug)]
pub struct Overview<'a> {
    plan: &'a Plan,
    /// The resources of which some queue uses more than its nominal share.
    borrowed: BTreeSet<&'a Resource>,
}

impl<'a> Overview<'a> {
    /// Looks over `plan` once for all its queues.
    pub fn of(plan: &'a Plan) -> Self {
        let borrows = |resource: &Resource| {
            plan.leaves().any(|(_, queue)| queue.used.get(resource) > queue.nominal.get(resource))
        };
        let borrowed = plan.resources.iter().filter(|resource| borrows(resource)).collect();
        Self { plan, borrowed }
    }
}

impl Overview<'_> {
    /// Whether what concerns every queue is the same in both.
    pub fn concerns_all_as(&self, other: &Overview<'_>) -> bool {
        self.plan.capacity == other.plan.capacity
            && self.plan.resources == other.plan.resources
            && self.plan.held == other.plan.held
            && self.borrowed == other.borrowed
    }
}

/// The status of the Queue `name`, whose generation is `generation` and whose status was `former`. None if the
/// plan does not know it.
///
/// `now` becomes the time of those conditions that change.
pub fn compose(
    overview: &Overview<'_>,
    name: &QueueName,
    generation: Option<i64>,
    former: Option<&QueueStatus>,
    circumstances: &Circumstances,
    now: Timestamp,
) -> Option<QueueStatus> {
    let kept = former.map(|status| status.conditions.as_slice()).unwrap_or_default();
    let merge = |reports: conditions::Reports| {
        let reports = reports.map(|(condition, report)| (condition.as_str(), report));
        merge_conditions(kept, reports, generation, now)
    };
    let listed = former.map(|status| status.recent_reclaims.as_slice()).unwrap_or_default();
    let recent_reclaims = reclaims::merged(&circumstances.reclaims, listed);
    let (conditions, summary, decided) = if let Some(queue) = overview.plan.queues.get(name) {
        let conditions = merge(conditions::of_queue(overview.plan, name, queue, kept, circumstances));
        let summary = StatusSummary {
            state: Some(state(&conditions, &queue.reach, !queue.used.less(&queue.nominal).is_empty())),
            demand: Some(queue.demand.compact()),
            deserved: Some(queue.deserved.compact()),
            allocated: Some(queue.allocated.compact()),
            used: Some(queue.used.compact()),
            preempting: Some(queue.preempting.compact()),
            nominal: Some(queue.nominal.compact()),
            guaranteed: compact(&queue.guaranteed),
            limit: compact(&queue.limit),
            pods: Some(format!("{}/{}", queue.pods.running, queue.pods.all())),
        };
        (conditions, summary, decided(overview, &name.namespace, queue))
    } else {
        let conditions = merge(conditions::of_stalled(overview.plan.stalled.get(name)?));
        let state = Some(state(&conditions, &Reach::default(), false));
        (conditions, StatusSummary { state, ..StatusSummary::default() }, QueueStatus::default())
    };
    Some(QueueStatus {
        observed_generation: generation,
        conditions,
        recent_reclaims,
        summary: Some(summary),
        ..decided
    })
}

/// What the plan decided on a queue with a share, and what a later decision needs to know of it.
fn decided(overview: &Overview<'_>, namespace: &Namespace, queue: &QueuePlan) -> QueueStatus {
    let resources = &overview.plan.resources;
    // Written even when it is empty: a map that is absent is not known.
    let every =
        |amounts: &Amounts| Some(texts(resources.iter().map(|resource| (resource, amounts.get(resource)))));
    let some = |amounts: &Amounts| Some(texts(amounts.iter()));
    let mut lent = Amounts::new();
    for resource in &overview.borrowed {
        lent.set(resource, queue.nominal.get(resource).less(queue.used.get(resource)));
    }
    QueueStatus {
        set_aside: remembered::set_aside(&queue.remember),
        not_created_since: remembered::not_created_since(&queue.remember),
        demand: every(&queue.demand),
        demand_falling: remembered::falling(&queue.remember),
        deserved: every(&queue.deserved),
        windows: remembered::windows(&queue.remember),
        allocated: every(&queue.allocated),
        used: every(&queue.used),
        preempting: some(&queue.preempting),
        short_since: queue.remember.short_since.map(remembered::time),
        unmet: unmet::listed(namespace, queue),
        unmet_total: Some(unmet::total(queue)),
        nominal: every(&queue.nominal),
        borrowed: some(&queue.used.less(&queue.nominal)),
        lent: some(&lent),
        pods: Some(pods(queue)),
        ..QueueStatus::default()
    }
}

/// Short form of the bounds of a spec; none if it states none.
fn compact(bounds: &Bounds) -> Option<String> {
    (!bounds.is_empty()).then(|| bounds.amounts().compact())
}

fn pods(queue: &QueuePlan) -> PodCounts {
    PodCounts {
        running: count(queue.pods.running),
        pending: count(queue.pods.pending),
        gated: count(queue.pods.gated),
        terminating: count(queue.pods.terminating),
    }
}
