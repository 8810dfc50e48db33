//! Why a QueueJob has its slots, or has none.

use std::fmt::Display;

use quotient_crds::{QueueJob, QueueJobCondition, condition};
use quotient_engine::names::Namespace;
use quotient_engine::plan::{QueueJobName, QueueJobPlan, SlotReason};

use super::Target;
use super::context::Context;
use super::workload::add_unmet;
use crate::commands::simulate::why_it_waits;
use crate::objects::Object;
use crate::output::{Explanation, spaced};

/// The reasons that time alone does not end.
const FOR_A_PERSON: [SlotReason; 4] =
    [SlotReason::GangAboveShare, SlotReason::NoQueue, SlotReason::QueueStalled, SlotReason::InvalidSpec];

pub(super) fn explain(context: &Context<'_>) -> Result<Explanation, String> {
    let Some(object @ Object::QueueJob(job)) = context.found() else { return Err(context.missing()) };
    let mut explanation = context.explanation();
    let target = context.target;
    let name = QueueJobName {
        namespace: Namespace::from(context.namespace.as_str()),
        name: target.name.as_str().into(),
    };
    let planned = context.cluster.plan().and_then(|plan| plan.queue_jobs.get(&name));
    match planned {
        Some(plan) => of_plan(&mut explanation, target, plan),
        None => of_status(&mut explanation, target, job),
    }
    add_unmet(&mut explanation, context, &context.creators(object));
    if explanation.next.is_none() && explanation.needs_a_person {
        explanation.next = Some("The QueueJob does not start until you change something.".to_owned());
    }
    Ok(explanation)
}

fn headline<N: Display>(target: &Target, state: &str, [slots, minimum, running]: [N; 3]) -> String {
    format!(
        "{target} is {state}: it has {slots} slots, needs {minimum} at once, and {running} of its pods run."
    )
}

/// What the operator would decide.
fn of_plan(explanation: &mut Explanation, target: &Target, plan: &QueueJobPlan) {
    let phase = format!("{:?}", plan.phase);
    explanation.headline = headline(target, &phase, [plan.total(), plan.min_available, plan.pods.running]);
    explanation.reason = Some(plan.reason.name().to_owned());
    match why_it_waits(plan) {
        Some(why) => explanation.check(false, why),
        None => explanation.check(true, format!("its slots: {}", plan.reason.name())),
    }
    explanation.needs_a_person = FOR_A_PERSON.contains(&plan.reason);
    explanation.fact("Deserved", spaced(&plan.amounts.deserved));
    explanation.fact("Allocated", spaced(&plan.amounts.allocated));
}

/// What the operator reported.
fn of_status(explanation: &mut Explanation, target: &Target, job: &QueueJob) {
    let status = job.status.clone().unwrap_or_default();
    let numbers = [status.slots, status.min_available, status.running].map(Option::unwrap_or_default);
    let state = status.state.map_or_else(|| "not reported yet".to_owned(), |state| format!("{state:?}"));
    explanation.headline = headline(target, &state, numbers);
    if let Some(admitted) = condition(&status.conditions, QueueJobCondition::Admitted) {
        let is_admitted = admitted.status == "True";
        explanation.check(is_admitted, format!("{}: {}", admitted.reason, admitted.message));
        explanation.reason = Some(admitted.reason.clone());
        explanation.needs_a_person =
            !is_admitted && FOR_A_PERSON.iter().any(|one| one.name() == admitted.reason);
    }
}
