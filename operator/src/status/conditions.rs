//! What the conditions of one queue say, and why.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionReport, ConditionType, RecentReclaim, condition};
use quotient_engine::amounts::Amounts;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, QueuePlan, Stall};
use quotient_engine::reasons::ShortReason;
use quotient_engine::snapshot::Admission;
use quotient_index::SkippedObject;

use super::Blocked;
use super::{unmet, withheld};
use crate::message::{MOST, amounts_of, listed, message};

/// What is known about one queue beyond the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// How the write of its quota stands.
    pub quota: QuotaState,
    /// Why pods that should leave for it cannot be evicted, if so.
    pub blocked: Option<Blocked>,
    /// The pods of it that were evicted and that its status does not list yet, newest first.
    pub reclaims: Vec<RecentReclaim>,
    /// The objects of its namespace that cannot be decoded, if there are any.
    pub skipped: Option<Arc<Vec<SkippedObject>>>,
}

/// How the write of one quota stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuotaState {
    /// The amounts of the plan are enforced.
    InForce,
    /// They will be in a moment: a normal write takes some milliseconds, which is no news.
    Settling,
    /// They have been written, or should have been, for longer than is normal.
    Waiting,
    /// The API server refuses the write.
    Refused(String),
    /// Another writer changes it again and again, as the text says.
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
        ready(plan, queue, &quota, circumstances.skipped.as_ref().map(|objects| objects.as_slice())),
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

fn ready(
    plan: &Plan,
    queue: &QueuePlan,
    quota: &ConditionReport,
    skipped: Option<&[SkippedObject]>,
) -> ConditionReport {
    let condition = ConditionType::Ready;
    if plan.capacity.is_empty() {
        return no(
            condition,
            "CapacityUnknown",
            "no node counts toward the capacity; until one does, no quota shrinks and no pod is evicted",
        );
    }
    let is_left_alone = queue.quota_left_alone || !queue.reach.writes_quotas();
    if !quota.holds && !is_left_alone {
        return no(condition, &quota.reason, &quota.message);
    }
    if queue.admission == Admission::GateNotServed {
        return no(condition, "GateModeNotServed", GATE_MODE_NOT_SERVED);
    }
    if let Some(pause) = &queue.reach.pause {
        return yes(condition, "Paused", &withheld::pause(pause));
    }
    let well = "The spec is understood and its share computed";
    if let Some(reason) = plan.held {
        let why = format!("Quotas do not shrink because {}.", reason.because());
        let text = message([why, reason.remedy().to_owned(), format!("{well}.")]);
        return yes(condition, reason.name(), &text);
    }
    if let Some([first, more @ ..]) = skipped {
        return yes(condition, "ObjectsSkipped", &skipped_objects(first, more.len()));
    }
    if !queue.foreign_limit.is_empty() {
        let message = format!(
            "{well}. Another ResourceQuota of the namespace bounds the share to {}.",
            listed(&queue.foreign_limit)
        );
        return yes(condition, ShortReason::ForeignQuota.name(), &message);
    }
    yes(condition, "Reconciled", well)
}

/// What a Queue that asks for Gate mode is told where there is none.
const GATE_MODE_NOT_SERVED: &str = "The queue works as with admission: Quota because this cluster has no policies that gate \
    pods. Set gateMode.enabled of the chart on Kubernetes 1.36 or later, or set admission: Quota.";

fn skipped_objects(first: &SkippedObject, more: usize) -> String {
    let SkippedObject { kind, name, error } = first;
    let others = if more == 0 { String::new() } else { format!("The same holds for {more} more objects.") };
    message([
        format!("Quotient cannot read all of {kind} {name}: {error}."),
        others,
        "Correct or delete the object.".to_owned(),
    ])
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
        yes(wanted, "Synced", synced_leaf(queue.admission))
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

const fn synced_leaf(admission: Admission) -> &'static str {
    match admission {
        Admission::Gate => "pods wait gated for the allocated amounts, and the quota holds only the limit",
        Admission::Quota | Admission::GateNotServed => {
            "the quota has the allocated amounts, and they are enforced"
        }
    }
}

fn starved(namespace: &Namespace, queue: &QueuePlan, circumstances: &Circumstances) -> ConditionReport {
    let condition = ConditionType::Starved;
    let withheld = withheld::evictions(queue);
    let (reason, why, next) = match (&circumstances.blocked, queue.starved) {
        (_, Some(reason @ ShortReason::EvictionsDisabled)) => {
            let why = withheld.as_deref().unwrap_or(reason.because());
            (reason.name(), why, reason.remedy())
        }
        (Some(blocked), _) => (blocked.reason, blocked.message.trim_end_matches('.'), blocked.remedy),
        (None, Some(reason)) => (reason.name(), reason.because(), reason.remedy()),
        (None, None) => return not_starved(queue),
    };
    let lacks = if queue.lacking.is_empty() {
        format!("The queue has the deserved {} and cannot use all of it because {why}.", queue.deserved)
    } else {
        let lacks = |of: &str| format!("The queue lacks {}{of} because {why}.", queue.lacking);
        let whole = lacks(&format!(" of the deserved {}", in_whole_pods(queue)));
        let is_too_long = whole.chars().count().saturating_add(next.chars().count()) >= MOST;
        // The pod, its budget and the way out matter more than the whole share.
        if is_too_long && circumstances.blocked.is_some() { lacks("") } else { whole }
    };
    let first = queue.unmet.first().map(|first| match unmet::why_unmet(namespace, queue, first) {
        // Said once is enough.
        _ if Some(first.reason) == queue.starved => format!("{}.", unmet::pending_pods(first)),
        sentence => format!("{}: {sentence}", unmet::pending_pods(first)),
    });
    yes(condition, reason, &message([lacks, next.to_owned()].into_iter().chain(first)))
}

/// What the queue deserves, and what that is in whole pods where it is something else.
fn in_whole_pods(queue: &QueuePlan) -> String {
    if queue.target == queue.deserved {
        queue.deserved.to_string()
    } else {
        format!("{} ({} in whole pods)", queue.deserved, queue.target)
    }
}

fn not_starved(queue: &QueuePlan) -> ConditionReport {
    let condition = ConditionType::Starved;
    let held = queue.used.min(&queue.target).less(&queue.allocated);
    if held.is_empty() {
        return no(condition, "ShareMet", "the queue has what it asks for and deserves");
    }
    let message = format!(
        "The pods of the queue use {held} that its quota does not allow. The quota rises when all queues together use no \
         more than the nodes offer."
    );
    no(condition, "HeldByItself", &message)
}

fn overused(queue: &QueuePlan) -> ConditionReport {
    let condition = ConditionType::Overused;
    // The last pod within the share in whole pods may reach beyond it.
    let over = queue.used.less(&queue.deserved.max(&queue.target));
    if over.is_empty() {
        return no(condition, "WithinShare", "the queue's pods hold no more than it deserves");
    }
    let of_over = |amounts: &Amounts| amounts_of(amounts, over.resources());
    yes(
        condition,
        "UsedAboveDeserved",
        &message([
            format!("The queue uses {} and deserves {}.", of_over(&queue.used), of_over(&queue.deserved)),
            "Quotient evicts the least protected pods when another queue is starved.".to_owned(),
        ]),
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
        &format!(
            "The guaranteed amounts exceed the capacity by {}. Lower guaranteed of a Queue.",
            queue.unmeetable
        ),
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
    report(condition, true, reason, message)
}

fn no(condition: ConditionType, reason: &str, message: &str) -> ConditionReport {
    report(condition, false, reason, message)
}

fn report(condition: ConditionType, holds: bool, reason: &str, message: &str) -> ConditionReport {
    ConditionReport { condition, holds, reason: reason.to_owned(), message: message.to_owned() }
}
