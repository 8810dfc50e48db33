//! What the conditions of one queue say, and why.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionReport, ConditionStatus, ConditionType, condition};
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan, Stall};
use quotient_engine::reason::Reason;

use super::{unmet, withheld};
use crate::writer::Blocked;

/// What is known about one queue beyond the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// How the write of its quota stands.
    pub quota: QuotaState,
    /// Why pods that should leave for it cannot be evicted, if so.
    pub blocked: Option<Blocked>,
}

/// How the write of one quota stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuotaState {
    /// The amounts of the plan are enforced.
    InForce,
    /// They will be in a moment: a normal write takes some milliseconds, which is no news for anybody.
    Settling,
    /// They have been written, or should have been, for longer than is normal.
    Waiting,
    /// The API server refuses the write.
    Refused(String),
    /// Somebody else changes it again and again, as the text says.
    Contested(String),
}

/// The conditions of a Queue with a share, which has had `former` until now.
pub(super) fn of_queue(
    plan: &Plan,
    name: &QueueName,
    queue: &QueuePlan,
    former: &[Condition],
    circumstances: &Circumstances,
) -> Vec<ConditionReport> {
    let quota = quota_synced(queue, former, circumstances);
    vec![
        ready(plan, queue, &quota),
        quota,
        starved(&name.namespace, queue, circumstances),
        overused(queue),
        guarantee(queue),
        stalled(queue),
    ]
}

/// The conditions of a Queue without a share.
pub(super) fn of_stalled(stall: &Stall) -> Vec<ConditionReport> {
    let reason = stall.reason.name();
    ConditionType::ALL
        .into_iter()
        .map(|condition| match condition {
            ConditionType::Stalled => yes(condition, reason, &stall.message),
            ConditionType::Ready => no(condition, reason, &stall.message),
            ConditionType::QuotaSynced => {
                no(condition, reason, "no quota is written for a Queue without a share")
            }
            _ => no(condition, reason, "the Queue has no share"),
        })
        .collect()
}

fn ready(plan: &Plan, queue: &QueuePlan, quota: &ConditionReport) -> ConditionReport {
    let condition = ConditionType::Ready;
    if plan.capacity.is_empty() {
        return no(
            condition,
            "CapacityUnknown",
            "no node counts towards the capacity; until one does, nothing shrinks and nobody is evicted",
        );
    }
    let is_left_alone = queue.quota_left_alone || !queue.reach.writes_quotas();
    if quota.status != ConditionStatus::True && !is_left_alone {
        return no(condition, &quota.reason, &quota.message);
    }
    if let Some(pause) = &queue.reach.pause {
        return yes(condition, "Paused", &withheld::pause(pause));
    }
    let well = "the spec is understood and its share computed";
    if let Some(reason) = plan.held {
        let (obstacle, way_out) = (unmet::obstacle(reason), unmet::way_out(reason));
        return yes(condition, reason.name(), &format!("{well}, but {obstacle}; {way_out}"));
    }
    if !queue.foreign_limit.is_empty() {
        let allowed: Vec<String> = queue
            .foreign_limit
            .iter()
            .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
            .collect();
        let message = format!(
            "{well}; another ResourceQuota of the namespace allows no more than {}, which bounds the share",
            allowed.join(", ")
        );
        return yes(condition, Reason::ForeignQuota.name(), &message);
    }
    yes(condition, "Reconciled", well)
}

fn quota_synced(queue: &QueuePlan, former: &[Condition], circumstances: &Circumstances) -> ConditionReport {
    let wanted = ConditionType::QuotaSynced;
    if let Some(why) = withheld::quota_writes(&queue.reach) {
        return no(wanted, "ObserveMode", &why);
    }
    if let Some(pause) = queue.reach.pause.as_ref().filter(|_| queue.quota_left_alone) {
        return no(wanted, "Paused", &withheld::kept_quota(pause));
    }
    let synced = if queue.is_parent {
        yes(
            wanted,
            "Synced",
            "the quotas of all queues below have their allocated amounts, and they are enforced",
        )
    } else {
        yes(wanted, "Synced", "the quota has the allocated amounts, and they are enforced")
    };
    match &circumstances.quota {
        QuotaState::InForce => synced,
        QuotaState::Settling if condition(former, wanted).is_some_and(|former| former.status == "True") => {
            synced
        }
        QuotaState::Settling | QuotaState::Waiting => no(
            wanted,
            "WaitingForQuotaController",
            "the quota's status does not show the allocated amounts yet, so they are not enforced; \
             kube-controller-manager fills it in",
        ),
        QuotaState::Refused(why) => {
            no(wanted, "WriteRefused", &format!("the quota cannot be written: {why}"))
        }
        QuotaState::Contested(what) => no(wanted, "QuotaContested", what),
    }
}

fn starved(namespace: &Namespace, queue: &QueuePlan, circumstances: &Circumstances) -> ConditionReport {
    let condition = ConditionType::Starved;
    let (reason, why) = match (&circumstances.blocked, queue.starved) {
        (Some(blocked), reason) if reason != Some(Reason::EvictionsDisabled) => {
            (blocked.reason.name(), blocked.message.clone())
        }
        (_, Some(reason)) => (reason.name(), unmet::sentence(queue, reason)),
        (_, None) => return not_starved(queue),
    };
    let lacks = if queue.lacking.is_empty() {
        format!("has the {} that it deserves, and cannot use all of it: {why}", queue.deserved)
    } else {
        format!("lacks {} of the {} that it deserves: {why}", queue.lacking, queue.deserved)
    };
    let message = match queue.unmet.first() {
        // Said once is enough.
        Some(first) if Some(first.reason) == queue.starved => format!("{lacks}. {}", unmet::ask(first)),
        Some(first) => format!("{lacks}. {}: {}", unmet::ask(first), unmet::message(namespace, queue, first)),
        None => lacks,
    };
    yes(condition, reason, &message)
}

fn not_starved(queue: &QueuePlan) -> ConditionReport {
    let condition = ConditionType::Starved;
    if queue.preempting.is_empty() {
        return no(condition, "ShareMet", "the queue has what it asks for and deserves");
    }
    let message = format!(
        "its own pods use the {} that its quota does not allow; the quota rises when all queues together use no more than \
         the nodes offer",
        queue.preempting
    );
    no(condition, "HeldByItself", &message)
}

fn overused(queue: &QueuePlan) -> ConditionReport {
    let condition = ConditionType::Overused;
    let over = queue.used.less(&queue.deserved);
    if over.is_empty() {
        return no(condition, "WithinShare", "the queue's pods hold no more than it deserves");
    }
    yes(
        condition,
        "UsedAboveDeserved",
        &format!("uses {} but deserves {}: {over} too much", queue.used, queue.deserved),
    )
}

fn guarantee(queue: &QueuePlan) -> ConditionReport {
    let condition = ConditionType::GuaranteeUnmeetable;
    if queue.unmeetable.is_empty() {
        return no(condition, "Meetable", "the cluster has what is guaranteed");
    }
    yes(
        condition,
        "GuaranteesExceedCapacity",
        &format!("{} of what is guaranteed is more than the cluster has", queue.unmeetable),
    )
}

fn stalled(queue: &QueuePlan) -> ConditionReport {
    let condition = ConditionType::Stalled;
    if queue.is_parent {
        no(condition, "Grouping", "the Queue groups the queues that take their share from it")
    } else {
        no(condition, "Governing", "the Queue governs its namespace")
    }
}

fn yes(condition: ConditionType, reason: &str, message: &str) -> ConditionReport {
    report(condition, ConditionStatus::True, reason, message)
}

fn no(condition: ConditionType, reason: &str, message: &str) -> ConditionReport {
    report(condition, ConditionStatus::False, reason, message)
}

fn report(condition: ConditionType, status: ConditionStatus, reason: &str, message: &str) -> ConditionReport {
    ConditionReport { condition, status, reason: reason.to_owned(), message: message.to_owned() }
}
