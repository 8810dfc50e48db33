//! Why a pod was evicted, as the record of the decision has it: with the numbers of that time, and the pods that a rule kept.

use quotient_engine::amounts::Amounts;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan};

use super::explanation::{EVICTED, Explanation};
use crate::commands::replay::Replay;
use crate::output::{counted, time_text};

/// Adds what the record says about the pod that is explained; none if it evicts no such pod.
pub(super) fn add(told: &mut Explanation, replay: &Replay) -> Option<()> {
    let (namespace, name) = (told.object.namespace.clone(), told.object.name.clone());
    let is_it = |eviction: &&Eviction| {
        eviction.pod.namespace.as_str() == namespace && eviction.pod.name.as_str() == name
    };
    let eviction = replay.plan.evictions.iter().find(is_it)?;
    if told.headline.is_empty() {
        let beneficiary =
            eviction.beneficiary.as_ref().map(|queue| format!(" for queue {}", queue.in_words()));
        let when = time_text(replay.decision.as_of());
        told.headline = format!("{EVICTED} at {when} by Quotient{}.", beneficiary.unwrap_or_default());
        told.reason = Some(eviction.reason.to_string());
    }
    told.fact("Then", numbers(eviction, &replay.plan));
    told.fact("Candidates", candidates(eviction, &replay.plan, &namespace));
    let same = if replay.is_identical { "the same plan, byte for byte" } else { "another plan" };
    told.fact("Decision", format!("{}: computed again, it is {same}", replay.decision.number));
    Some(())
}

/// What both queues had, of the resources that the pod freed.
fn numbers(eviction: &Eviction, plan: &Plan) -> String {
    let of = |amounts: &Amounts| -> Amounts {
        eviction.requests.resources().map(|resource| (resource.clone(), amounts.get(resource))).collect()
    };
    let line = |name: &QueueName, used: &Amounts, deserved: &Amounts| {
        let (used, deserved) = (of(used), of(deserved));
        format!("Queue {} used {} and deserved {}.", name.in_words(), used.compact(), deserved.compact())
    };
    let own = line(&eviction.queue, &eviction.used, &eviction.deserved);
    let other = eviction.beneficiary.as_ref().and_then(|name| {
        let queue = plan.queues.get(name)?;
        Some(line(name, &queue.used, &queue.deserved))
    });
    [Some(own), other].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The place of the pod, and the pods of its queue that a rule kept. Those of other namespaces are only counted: the person who
/// asks may not see them.
fn candidates(eviction: &Eviction, plan: &Plan, namespace: &str) -> String {
    let place = eviction.rank.map_or_else(
        || "The pod was ending already.".to_owned(),
        |rank| format!("The pod was candidate {rank} of its queue."),
    );
    let evicted = counted(plan.evictions.len(), "pod was", "pods were");
    let (own, others): (Vec<_>, Vec<_>) =
        plan.passed_over.iter().partition(|kept| kept.pod.namespace.as_str() == namespace);
    let own: Vec<String> = own.iter().map(|kept| format!("{} ({})", kept.pod.name, kept.reason)).collect();
    let own = if own.is_empty() { String::new() } else { format!(" Kept by a rule: {}.", own.join(", ")) };
    let others = match others.len() {
        0 => String::new(),
        count => format!(" A rule kept {} of other namespaces.", counted(count, "pod", "pods")),
    };
    format!("{place} In this decision {evicted} evicted.{own}{others}")
}
