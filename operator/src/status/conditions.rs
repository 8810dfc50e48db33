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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// How the write of its quota stands.
    pub quota: QuotaState,
    /// Why pods that should leave for it cannot be evicted, if so.
    pub blocked: Option<Blocked>,
    /// The pods of it that this process evicted, newest first.
    pub reclaims: Arc<Vec<RecentReclaim>>,
    /// The objects of its namespace that cannot be decoded, if there are any.
    pub skipped: Option<Arc<Vec<SkippedObject>>>,
}

/// How the write of one quota stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum QuotaState {
    /// The amounts of the plan are enforced.
    #[default]
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

/// What is said of each condition of one Queue.
pub(super) type Reports = [(ConditionType, ConditionReport); ConditionType::ALL.len()];

/// The conditions of a Queue with a share, which has had `former` until now.
pub(super) fn of_queue(
    plan: &Plan,
    name: &QueueName,
    queue: &QueuePlan,
    former: &[Condition],
    circumstances: &Circumstances,
) -> Reports {
    let quota = quota_synced(queue, former, &circumstances.quota);
    let skipped = circumstances.skipped.as_ref().map(|objects| objects.as_slice());
    [
        (ConditionType::Ready, ready(plan, queue, &quota, skipped)),
        (ConditionType::QuotaSynced, quota),
        (ConditionType::Starved, starved(&name.namespace, queue, circumstances.blocked.as_ref())),
        (ConditionType::Overused, overused(queue)),
        (ConditionType::GuaranteeUnmeetable, guarantee(queue)),
        (ConditionType::Stalled, not_stalled(queue)),
    ]
}

/// The conditions of a Queue without a share.
pub(super) fn of_stalled(stall: &Stall) -> Reports {
    ConditionType::ALL.map(|condition| {
        let message = match condition {
            ConditionType::Stalled | ConditionType::Ready => &*stall.message,
            ConditionType::QuotaSynced => "no quota is written for a Queue without a share",
            _ => "the Queue has no share",
        };
        let holds = condition == ConditionType::Stalled;
        (condition, ConditionReport::new(holds, stall.reason.name(), message))
    })
}

fn ready(
    plan: &Plan,
    queue: &QueuePlan,
    quota: &ConditionReport,
    skipped: Option<&[SkippedObject]>,
) -> ConditionReport {
    if plan.capacity.is_empty() {
        let message =
            "no node counts toward the capacity; until one does, no quota shrinks and no pod is evicted";
        return no("CapacityUnknown", message);
    }
    let is_left_alone = queue.quota_left_alone || !queue.reach.writes_quotas();
    if !quota.holds && !is_left_alone {
        return quota.clone();
    }
    if queue.admission == Admission::GateNotServed {
        return no("GateModeNotServed", GATE_MODE_NOT_SERVED);
    }
    if let Some(pause) = &queue.reach.pause {
        return yes("Paused", withheld::pause(pause));
    }
    let well = "The spec is understood and its share computed";
    if let Some(reason) = plan.held {
        let why = format!("Quotas do not shrink because {}.", reason.because());
        return yes(reason.name(), message([why, reason.remedy().to_owned(), format!("{well}.")]));
    }
    if let Some([first, more @ ..]) = skipped {
        return yes("ObjectsSkipped", skipped_objects(first, more.len()));
    }
    if !queue.foreign_limit.is_empty() {
        let limit = listed(&queue.foreign_limit);
        let bounds = format!("{well}. Another ResourceQuota of the namespace bounds the share to {limit}.");
        return yes(ShortReason::ForeignQuota.name(), bounds);
    }
    yes("Reconciled", well)
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

fn quota_synced(queue: &QueuePlan, former: &[Condition], quota: &QuotaState) -> ConditionReport {
    if let Some(why) = withheld::quota_writes(&queue.reach) {
        return no("ObserveMode", why);
    }
    if let Some(pause) = queue.reach.pause.as_ref().filter(|_| queue.quota_left_alone) {
        return no("Paused", withheld::kept_quota(pause));
    }
    let was_synced = || {
        condition(former, ConditionType::QuotaSynced.as_str()).is_some_and(|former| former.status == "True")
    };
    match quota {
        QuotaState::InForce => yes("Synced", synced(queue)),
        QuotaState::Settling if was_synced() => yes("Synced", synced(queue)),
        QuotaState::Settling | QuotaState::Waiting => no(
            "WaitingForQuotaController",
            "the quota's status does not show the allocated amounts yet, so they are not enforced; \
             kube-controller-manager fills it in",
        ),
        QuotaState::Refused(why) => {
            no("WriteRefused", message([format!("the quota cannot be written: {why}")]))
        }
        QuotaState::Contested(what) => no("QuotaContested", what),
    }
}

const fn synced(queue: &QueuePlan) -> &'static str {
    match queue.admission {
        _ if queue.is_parent => {
            "the quotas of all queues below have their allocated amounts, and they are enforced"
        }
        Admission::Gate => "pods wait gated for the allocated amounts, and the quota holds only the limit",
        Admission::Quota | Admission::GateNotServed => {
            "the quota has the allocated amounts, and they are enforced"
        }
    }
}

fn starved(namespace: &Namespace, queue: &QueuePlan, blocked: Option<&Blocked>) -> ConditionReport {
    let withheld = withheld::evictions(queue);
    let (reason, why, next) = match (blocked, queue.starved) {
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
        if is_too_long && blocked.is_some() { lacks("") } else { whole }
    };
    let first = queue.unmet.first().map(|first| match unmet::why_unmet(namespace, queue, first) {
        // Said once is enough.
        _ if Some(first.reason) == queue.starved => format!("{}.", unmet::pending_pods(first)),
        sentence => format!("{}: {sentence}", unmet::pending_pods(first)),
    });
    yes(reason, message([lacks, next.to_owned()].into_iter().chain(first)))
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
    let held = queue.used.min(&queue.target).less(&queue.allocated);
    if held.is_empty() {
        return no("ShareMet", "the queue has what it asks for and deserves");
    }
    let message = format!(
        "The pods of the queue use {held} that its quota does not allow. The quota rises when all queues together use no \
         more than the nodes offer."
    );
    no("HeldByItself", message)
}

fn overused(queue: &QueuePlan) -> ConditionReport {
    // The last pod within the share in whole pods may reach beyond it.
    let over = queue.used.less(&queue.deserved.max(&queue.target));
    if over.is_empty() {
        return no("WithinShare", "the queue's pods hold no more than it deserves");
    }
    let of_over = |amounts: &Amounts| amounts_of(amounts, over.resources());
    let uses = format!("The queue uses {} and deserves {}.", of_over(&queue.used), of_over(&queue.deserved));
    let next = "Quotient evicts the least protected pods when another queue is starved.";
    yes("UsedAboveDeserved", message([uses, next.to_owned()]))
}

fn guarantee(queue: &QueuePlan) -> ConditionReport {
    let excess = &queue.unmeetable;
    if excess.is_empty() {
        return no("Meetable", "the cluster has what is guaranteed");
    }
    let exceed =
        format!("The guaranteed amounts exceed the capacity by {excess}. Lower guaranteed of a Queue.");
    yes("GuaranteesExceedCapacity", exceed)
}

fn not_stalled(queue: &QueuePlan) -> ConditionReport {
    if queue.is_parent {
        no("Grouping", "the Queue groups the queues that take their share from it")
    } else {
        no("Governing", "the Queue governs its namespace")
    }
}

fn yes(reason: &str, message: impl Into<String>) -> ConditionReport {
    ConditionReport::new(true, reason, message)
}

fn no(reason: &str, message: impl Into<String>) -> ConditionReport {
    ConditionReport::new(false, reason, message)
}
