//! Why a QueueJob has its slots, or has none.

use quotient_crds::{QueueJob, QueueJobCondition};
use quotient_engine::amounts::Amounts;
use quotient_engine::names::Namespace;
use quotient_engine::plan::{QueueJobName, QueueJobPlan, SlotReason};

use super::context::Context;
use super::unmet::{self, CHANGE_SOMETHING, NOTHING_TO_DO};
use crate::commands::simulate::why_it_waits;
use crate::objects::Object;
use crate::output::{Explanation, counted, spaced};
use crate::queues::amounts;

pub(super) fn explain(context: &Context<'_>) -> Result<Explanation, String> {
    let Some(object @ Object::QueueJob(job)) = context.found() else { return Err(context.missing()) };
    let name = QueueJobName {
        namespace: Namespace::from(context.namespace.as_str()),
        name: context.target.name.as_str().into(),
    };
    let planned = context.cluster.plan().and_then(|plan| plan.queue_jobs.get(&name));
    let slots = planned.map_or_else(|| Slots::reported(job), Slots::planned);
    let mut explanation = context.explanation();
    let (target, state, [number, minimum, running]) = (context.target, &slots.state, slots.numbers);
    explanation.headline = format!(
        "{target} is {state}: it has {}, needs {minimum} at once, and {running} of its pods run.",
        counted(number, "slot", "slots")
    );
    if let Some(Admission { reason, is_good, text }) = &slots.admission {
        explanation.reason = Some(reason.clone());
        explanation.check(*is_good, text);
        explanation.needs_a_person = !is_good && needs_a_person(reason);
    }
    explanation.fact("Deserved", spaced(&slots.deserved));
    explanation.fact("Allocated", spaced(&slots.allocated));
    unmet::add(&mut explanation, context, &context.unmet(&context.creators(object)));
    let by_state = match slots.state.as_str() {
        _ if explanation.needs_a_person => Some(CHANGE_SOMETHING),
        "Waiting" | "Starting" => Some(NOTHING_TO_DO),
        "Suspended" => Some("It asks for slots when you set spec.suspend to false."),
        _ => None,
    };
    explanation.next = explanation.next.or_else(|| by_state.map(str::to_owned));
    Ok(explanation)
}

/// Whether time alone does not end that it has no slots.
fn needs_a_person(reason: &str) -> bool {
    const FOR_A_PERSON: [SlotReason; 4] =
        [SlotReason::GangAboveShare, SlotReason::NoQueue, SlotReason::QueueStalled, SlotReason::InvalidSpec];
    // That is no decision of the engine.
    reason == "JobRefused" || FOR_A_PERSON.iter().any(|one| one.name() == reason)
}

/// Whether it has no slots because it asks for none.
fn asks_for_none(reason: &str) -> bool {
    [SlotReason::Suspended, SlotReason::Finished].iter().any(|one| one.name() == reason)
}

/// What a QueueJob has and needs.
struct Slots {
    /// Its state in one word.
    state: String,
    /// How many it has, how many it needs at once, and how many of its pods run.
    numbers: [i64; 3],
    /// None if it is not reported.
    admission: Option<Admission>,
    deserved: Amounts,
    allocated: Amounts,
}

/// Whether it has its slots, and why.
struct Admission {
    reason: String,
    is_good: bool,
    text: String,
}

impl Slots {
    /// What the operator would decide.
    fn planned(plan: &QueueJobPlan) -> Self {
        let why = why_it_waits(plan);
        let admission = Admission {
            reason: plan.reason.name().to_owned(),
            is_good: why.is_none(),
            text: why.unwrap_or_else(|| format!("its slots: {}", plan.reason.name())),
        };
        Self {
            state: format!("{:?}", plan.phase),
            numbers: [plan.total(), plan.min_available, plan.pods.running].map(i64::from),
            admission: Some(admission),
            deserved: plan.amounts.deserved.clone(),
            allocated: plan.amounts.allocated.clone(),
        }
    }

    /// What the operator reported.
    fn reported(job: &QueueJob) -> Self {
        let status = job.status.clone().unwrap_or_default();
        let admission = status.condition(QueueJobCondition::Admitted).map(|admitted| Admission {
            reason: admitted.reason.clone(),
            is_good: admitted.status == "True" || asks_for_none(&admitted.reason),
            text: format!("{}: {}", admitted.reason, admitted.message),
        });
        Self {
            numbers: [status.slots, status.min_available, status.running]
                .map(|number| number.unwrap_or_default().into()),
            admission,
            deserved: amounts(status.deserved.as_ref()),
            allocated: amounts(status.allocated.as_ref()),
            state: status.state.unwrap_or_else(|| "not reported yet".to_owned()),
        }
    }
}
