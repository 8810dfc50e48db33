//! Why a pod is pending, ending, running or gone.

use k8s_openapi::api::core::v1::{Pod, PodCondition};
use quotient_crds::names::SHARE_GATE;
use quotient_engine::plan::Eviction;
use quotient_engine::snapshot::{EvictionPolicy, Mode};
use quotient_operator::settings::Settings;
use serde_json::Value;

use super::context::{Context, Names};
use super::queue::not_reported;
use super::{Question, evicted, unmet};
use crate::commands::simulate::why;
use crate::objects::{Object, find_text, text};
use crate::output::{Explanation, Fact, duration, list, spaced};
use crate::queues::QueueView;

pub(super) fn explain(context: &Context<'_>) -> Result<Explanation, String> {
    let found: Option<&Pod> = context.found().and_then(Object::get);
    if let Some((view, reclaim)) = context.reclaim() {
        let mut explanation = evicted::explain(context, view, reclaim);
        explanation.facts.splice(0..0, said_then(context.question, &reclaim.uid));
        let Some(pod) = found else { return Ok(explanation) };
        if pod.metadata.uid.as_deref() == Some(&reclaim.uid) {
            explanation.next = ending(context, pod);
            return Ok(explanation);
        }
        // A new pod of the same name is asked about, unless the record of the old one's eviction is given.
        let mut now = now(context, pod);
        if context.question.replay.is_none() {
            now.fact("Earlier pod", explanation.headline);
            return Ok(now);
        }
        explanation.needs_a_person = now.needs_a_person;
        explanation.next = Some(format!("A new pod of the same name exists: {}", now.headline));
        return Ok(explanation);
    }
    let (name, namespace) = (&context.target.name, &context.namespace);
    if let Some(replay) = context.question.replay {
        return evicted::explain_recorded(context, replay).ok_or_else(|| {
            format!("the decision in the record evicted no Pod {name} in namespace {namespace}")
        });
    }
    found.map(|pod| now(context, pod)).ok_or_else(|| {
        format!(
            "there is no Pod {name} in namespace {namespace}, and its Queue remembers no eviction of it. If it was never created, \
             ask about its workload: kubectl quotient explain deploy/NAME -n {namespace}"
        )
    })
}

/// What the operator said in the event on the pod, with the numbers of that time. The record of the decision has them as well.
fn said_then(question: &Question<'_>, uid: &str) -> Option<Fact> {
    let is_it = |event: &&Value| text(event, "/regarding/uid") == uid;
    let event = question.events.iter().rfind(is_it).filter(|_| question.replay.is_none())?;
    Some(Fact { title: "Said then", text: find_text(event, "/note")?.to_owned() })
}

/// The pod as it is.
fn now(context: &Context<'_>, pod: &Pod) -> Explanation {
    let name = &context.target.name;
    let mut explanation = context.explanation();
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref()).unwrap_or("Pending");
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
    if let Some(ending) = ending(context, pod) {
        ends(&mut explanation, pod, &ending);
    } else if matches!(phase, "Succeeded" | "Failed") {
        explanation.headline = format!("Pod {name} has finished ({phase}). It uses nothing of the share.");
    } else if let Some(node) = node {
        placed(&mut explanation, context, pod, phase, node);
    } else {
        pending(&mut explanation, context, pod);
    }
    explanation
}

/// `It ends within 20 s.`; none if it is not ending.
fn ending(context: &Context<'_>, pod: &Pod) -> Option<String> {
    let deadline = pod.metadata.deletion_timestamp.as_ref()?;
    let left =
        deadline.0.as_millisecond().saturating_sub(context.cluster.snapshot.now.millis()).div_euclid(1000);
    Some(if left >= 0 {
        format!("It ends within {}.", duration(left))
    } else {
        let late = duration(left.saturating_neg());
        format!("It should have ended {late} ago: it has a finalizer, or its node is lost.")
    })
}

fn ends(explanation: &mut Explanation, pod: &Pod, ending: &str) {
    let name = &explanation.object.name;
    let cause = condition(pod, "DisruptionTarget").and_then(|condition| condition.reason.as_deref());
    explanation.headline = format!("Pod {name} is ending. {ending}");
    let text = match cause {
        Some("EvictionByEvictionAPI") => {
            "a client evicted it by the Eviction API; the status of the Queue does not name Quotient for it"
                .to_owned()
        }
        Some(reason) => format!("Kubernetes reports {reason}"),
        None => {
            "a client or its controller deleted it; Quotient only evicts, and never deletes pods".to_owned()
        }
    };
    explanation.fact("Why", text);
}

fn condition<'p>(pod: &'p Pod, name: &str) -> Option<&'p PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == name)
}

/// A pod that has a node.
fn placed(explanation: &mut Explanation, context: &Context<'_>, pod: &Pod, phase: &str, node: &str) {
    let name = &explanation.object.name;
    let waiting = waiting_containers(pod);
    explanation.headline = match (phase, waiting.is_empty()) {
        ("Running", true) => format!("Pod {name} runs on {node}."),
        (_, true) => format!("Pod {name} is on {node} and is starting."),
        (_, false) => format!("Pod {name} is on {node} and does not run: {}.", list(&waiting)),
    };
    if !waiting.is_empty() {
        explanation.needs_a_person = true;
        explanation.fact("Cause", "the kubelet reports it; Quotient has nothing to do with it");
    }
    let Some(view) = context.queue() else {
        explanation.fact(
            "Queue",
            format!("namespace {} has no Queue, so no share bounds its pods", context.namespace),
        );
        return;
    };
    explanation.fact("Eviction", risk(context, view));
    if let Some(plan) = context.cluster.plan() {
        let is_it = |eviction: &&Eviction| context.is_about(&eviction.pod);
        let chosen = plan.evictions.iter().chain(&plan.waiting).find(is_it);
        let withheld = plan.withheld.iter().find(is_it);
        let kept = plan.passed_over.iter().find(|kept| context.is_about(&kept.pod));
        if let Some(eviction) = chosen {
            explanation.reason = Some(eviction.reason.name().to_owned());
            explanation.fact("Next", format!("the next decision evicts it: {}", why(eviction, plan)));
        } else if let Some(eviction) = withheld {
            explanation.fact(
                "Next",
                format!("a mode or a pause keeps it, otherwise it would be evicted: {}", why(eviction, plan)),
            );
        } else if let Some(kept) = kept {
            explanation.fact("Kept", format!("{}: {}", kept.reason, kept.reason.because()));
        }
    }
}

/// Whether pods of the queue may be evicted for another queue.
fn risk(context: &Context<'_>, view: &QueueView) -> String {
    if view.is_unknown() {
        return format!("{}, so its share is not known", not_reported(view));
    }
    let queue = view.name.in_words();
    if let Some((reason, _)) = view.stalled() {
        return format!("Queue {queue} has no share ({reason}), so none of its pods is evicted");
    }
    let deserved = view.deserved();
    let over = view.used().less(&deserved);
    if over.is_empty() {
        let deserved = spaced(&deserved);
        return format!(
            "Queue {queue} uses no more than its deserved {deserved}, so none of its pods is evicted for the share of another queue"
        );
    }
    let above = format!("Queue {queue} uses {} above its deserved share", spaced(&over));
    match what_keeps(context, view) {
        Some(what) => format!("{above}; {what} keeps its pods from being evicted"),
        None => format!("{above}; if another queue is starved, the least protected of its pods are evicted"),
    }
}

/// What keeps the pods of the queue although it may use more than it deserves.
fn what_keeps(context: &Context<'_>, view: &QueueView) -> Option<String> {
    let spec = &view.queue.spec;
    let of_operator = context.cluster.settings().map(Settings::mode).unwrap_or_default();
    let mode = spec.mode.min(of_operator);
    match view.state() {
        "Paused" => Some("a pause".to_owned()),
        // The mode of a parent queue counts as well.
        "Observe" => Some("mode Observe".to_owned()),
        _ if mode < Mode::Full => Some(format!("mode {mode}")),
        _ => {
            let policy = spec.eviction.as_ref().and_then(|eviction| eviction.policy)?;
            (policy == EvictionPolicy::Never).then(|| "eviction.policy Never".to_owned())
        }
    }
}

/// `container c: ErrImagePull (…)`.
fn waiting_containers(pod: &Pod) -> Vec<String> {
    let status = pod.status.as_ref();
    let statuses = status.into_iter().flat_map(|status| {
        status.init_container_statuses.iter().flatten().chain(status.container_statuses.iter().flatten())
    });
    let waits = statuses.filter_map(|status| {
        let waiting = status.state.as_ref()?.waiting.as_ref()?;
        let reason = waiting.reason.as_deref()?;
        let is_normal = matches!(reason, "PodInitializing" | "ContainerCreating");
        (!is_normal).then(|| format!("container {}: {reason}", status.name))
    });
    waits.collect()
}

/// A pod without a node.
fn pending(explanation: &mut Explanation, context: &Context<'_>, pod: &Pod) {
    let name = explanation.object.name.clone();
    let spec = pod.spec.as_ref();
    let gates: Vec<&str> = spec
        .and_then(|spec| spec.scheduling_gates.as_ref())
        .into_iter()
        .flatten()
        .map(|gate| gate.name.as_str())
        .collect();
    let (ours, others): (Vec<&str>, Vec<&str>) = gates.into_iter().partition(|gate| *gate == SHARE_GATE);
    explanation.headline = if ours.is_empty() {
        format!("Pod {name} is pending: no node has taken it.")
    } else {
        format!("Pod {name} is gated: Quotient removes the gate {SHARE_GATE} when its queue has room.")
    };
    if !others.is_empty() {
        explanation.check(false, format!("scheduling gates hold it: {}", list(others)));
        explanation.next =
            Some("The scheduler looks at it when the program that set the gates removes them.".to_owned());
        return;
    }
    let mut names = Names::from([("Pod".to_owned(), name)]);
    let owners =
        pod.metadata.owner_references.iter().flatten().filter(|owner| owner.controller == Some(true));
    names.extend(owners.map(|owner| (owner.kind.clone(), owner.name.clone())));
    unmet::add(explanation, context, &context.unmet(&names));
    let scheduled = condition(pod, "PodScheduled");
    if let Some(message) = scheduled.and_then(|condition| condition.message.as_deref()) {
        explanation.fact("Scheduler", message);
    }
    match context.queue() {
        Some(view) if ours.is_empty() => {
            let text =
                format!("Queue {}: its quota admitted the pod, which counts as used", view.name.in_words());
            explanation.fact("Queue", text);
        }
        Some(view) => {
            let (allocated, used) = (spaced(&view.allocated()), spaced(&view.used()));
            let queue = view.name.in_words();
            explanation.fact("Queue", format!("Queue {queue} is allocated {allocated} and uses {used}"));
        }
        None => explanation.fact("Queue", format!("namespace {} has no Queue", context.namespace)),
    }
}
