//! Why a queue has its share.

use quotient_crds::ConditionType;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::QueueName;

use super::arithmetic::arithmetic;
use super::context::Context;
use super::evicted::in_words;
use crate::output::{Explanation, counted, spaced};
use crate::queues::{QueueView, Remedy, amounts, leaving};

/// The most evictions that are listed.
const MOST_RECLAIMS: usize = 5;

pub(super) fn explain(context: &Context<'_>) -> Result<Explanation, String> {
    let name = QueueName::new(context.namespace.as_str(), context.target.name.as_str());
    let view = context.views.iter().find(|view| view.name == name);
    let view = view.ok_or_else(|| context.missing())?;
    let mut explanation = context.explanation();
    if view.is_unknown() {
        explanation.headline = format!("{}.", not_reported(view));
        explanation.next =
            Some("If that does not change within a minute, see: kubectl quotient check".to_owned());
        return Ok(explanation);
    }
    explanation.headline = headline(context, view);
    if view.is_outdated() {
        explanation
            .step("this is what followed from an older spec: Quotient has not seen the last change yet");
    }
    if let Some((reason, message)) = view.stalled() {
        explanation.check(false, message.to_owned());
        explanation.reason = Some(reason.to_owned());
        explanation.needs_a_person = true;
        return Ok(explanation);
    }
    conditions(&mut explanation, context, view);
    share(&mut explanation, context, view);
    unmet(&mut explanation, view);
    reclaims(&mut explanation, context, view);
    if context.question.arithmetic {
        explanation.lines = arithmetic(context, view);
    }
    Ok(explanation)
}

/// That nothing is known of a Queue.
pub(super) fn not_reported(view: &QueueView) -> String {
    format!("Quotient has not reported on Queue {} yet", view.name.in_words())
}

fn headline(context: &Context<'_>, view: &QueueView) -> String {
    let name = view.name.in_words();
    if let Some((reason, _)) = view.stalled() {
        return format!("Queue {name} has no share: {reason}.");
    }
    let state = match view.starved(context.cluster.snapshot.now) {
        Some(starved) => format!("starved{}", starved.since()),
        None => view.state().to_owned(),
    };
    let (deserved, allocated) = (spaced(&view.deserved()), spaced(&view.allocated()));
    let (quota, whose) = match view.condition(ConditionType::QuotaSynced, "False") {
        Some(("ObserveMode", _)) => ("Quotient writes no quota for it".to_owned(), "its"),
        _ if view.is_parent() => (format!("the quotas of its child queues allow {allocated}"), "their"),
        _ => (format!("its quota allows {allocated}"), "its"),
    };
    let used = spaced(&view.used());
    format!("Queue {name} deserves {deserved}; {quota}; {whose} pods use {used}. State: {state}.")
}

fn conditions(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView) {
    let left_alone = view.quota_left_alone();
    if let Some((reason, message)) = view.condition(ConditionType::Ready, "False") {
        explanation.check(false, message);
        explanation.reason.get_or_insert_with(|| reason.to_owned());
    } else {
        explanation.check(
            true,
            match left_alone {
                Some(_) => "the spec is understood",
                None => "the spec is understood and the quota is in sync",
            },
        );
        // A pause, a guard that holds, or a quota of others.
        let unusual =
            view.condition(ConditionType::Ready, "True").filter(|(reason, _)| *reason != "Reconciled");
        if let Some(message) = unusual.map(|(_, message)| message).or(left_alone) {
            explanation.step(message);
        }
    }
    if let Some(starved) = view.starved(context.cluster.snapshot.now) {
        explanation.check(false, starved.message);
        explanation.reason.get_or_insert_with(|| starved.reason.to_owned());
        if let Some(leaving) = leaving(view, &context.views, context.cluster) {
            explanation.step(leaving.sentence());
        }
    } else if let Some(("HeldByItself", message)) = view.condition(ConditionType::Starved, "False") {
        explanation.step(message);
    } else if left_alone.is_none() {
        explanation.check(true, "the queue has what it asks for and deserves");
    }
    if let Some((_, message)) = view.condition(ConditionType::GuaranteeUnmeetable, "True") {
        explanation.check(false, message);
        explanation.needs_a_person = true;
    } else if view.queue.spec.guaranteed.is_some() {
        explanation.check(true, "the cluster has the guaranteed amounts");
    }
    if let Some((_, message)) = view.condition(ConditionType::Overused, "True") {
        explanation.step(message);
    }
}

/// The numbers, each with what it means.
fn share(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView) {
    let siblings = context.views.iter().filter(|other| other.parent() == view.parent());
    let total = siblings.clone().map(|other| i64::from(other.weight())).fold(0, i64::saturating_add);
    let among = match view.parent() {
        Some(parent) => format!("the child queues of {}", parent.in_words()),
        None => "the queues without a parent".to_owned(),
    };
    explanation.fact("Weight", format!("{} of {total} among {among} that you may see", view.weight()));
    let status = &view.status;
    let some =
        |map: &Option<quotient_crds::ResourceMap>| Some(amounts(map.as_ref())).filter(|map| !map.is_empty());
    let mut add = |title, amounts: Option<Amounts>, meaning: &str| {
        if let Some(amounts) = amounts {
            explanation.fact(title, format!("{}{meaning}", spaced(&amounts)));
        }
    };
    add("Demand", some(&status.demand), ": what its pods request and its workloads lack");
    add("Nominal", some(&status.nominal), ": the share if every queue asked for everything");
    add(
        "Guaranteed",
        some(&view.queue.spec.guaranteed),
        ": granted before shares by weight, as far as there is demand",
    );
    add("Limit", some(&view.queue.spec.limit), ": never more");
    add("Borrowed", some(&status.borrowed), ": used above nominal; other queues can reclaim it");
    add("Lent", some(&status.lent), ": not used of nominal, and used by others");
    add("Reclaiming", some(&status.preempting), ": deserved and not allocated yet");
}

fn unmet(explanation: &mut Explanation, view: &QueueView) {
    for unmet in &view.status.unmet {
        let pods = counted(unmet.pods, "pod", "pods");
        explanation.fact("Waits", format!("{} {}: {pods}: {}", unmet.kind, unmet.name, unmet.message));
        explanation.needs_a_person |= Remedy::of(&unmet.reason) == Remedy::Person;
    }
}

fn reclaims(explanation: &mut Explanation, context: &Context<'_>, view: &QueueView) {
    for reclaim in view.status.recent_reclaims.iter().take(MOST_RECLAIMS) {
        let ago = context.ago(reclaim.time.0);
        let beneficiary =
            reclaim.beneficiary.as_deref().map(|queue| format!(" for queue {}", in_words(queue)));
        let beneficiary = beneficiary.unwrap_or_default();
        let returned = spaced(&amounts(Some(&reclaim.amounts)));
        explanation.fact("Evicted", format!("{ago} ago: pod {} ({returned}){beneficiary}", reclaim.pod));
    }
}
