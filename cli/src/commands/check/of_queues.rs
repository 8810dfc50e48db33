//! Checks of Queues.

use std::collections::BTreeMap;

use quotient_crds::{Admission, ConditionType, EvictionPolicy};
use quotient_engine::names::Namespace;

use super::CheckContext;
use super::finding::{Found, Need, Seen};
use crate::output::{duration, spaced};
use crate::queues::{QueueView, amounts};

/// How long a queue may be starved, and one may be deleted, in seconds.
const PATIENCE_SECONDS: i64 = 300;

fn of_each(context: &CheckContext<'_>, problem: impl Fn(&QueueView) -> Option<String>) -> Found {
    let sentence = |view: &QueueView| Some(format!("{}: {}", view.name.in_words(), problem(view)?));
    Found::each(context.queues().filter_map(sentence))
}

pub(super) fn stalled(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| view.stalled().map(|(reason, message)| format!("{reason}: {message}")))
}

pub(super) fn not_ready(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let (reason, message) = view.condition(ConditionType::Ready, "False")?;
        view.stalled().is_none().then(|| format!("{reason}: {message}"))
    })
}

pub(super) fn starved(context: &CheckContext<'_>) -> Found {
    let now = context.cluster.snapshot.now;
    of_each(context, |view| {
        let starved = view.starved(now).filter(|_| !view.is_parent())?;
        let seconds = starved.seconds.filter(|seconds| *seconds >= PATIENCE_SECONDS)?;
        Some(format!("starved for {} ({})", duration(seconds), starved.reason))
    })
}

pub(super) fn unmeetable(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        view.condition(ConditionType::GuaranteeUnmeetable, "True").map(|(_, message)| message.to_owned())
    })
}

pub(super) fn without_status(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| (!view.is_reported).then(|| "the operator has reported nothing on it".to_owned()))
}

pub(super) fn outdated(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let (seen, current) = (view.status.observed_generation?, view.queue.metadata.generation?);
        (seen < current).then(|| format!("the operator has seen generation {seen} of {current}"))
    })
}

pub(super) fn deleting(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let seconds = context.cluster.seconds_since(view.queue.metadata.deletion_timestamp.as_ref()?.0);
        (seconds >= PATIENCE_SECONDS).then(|| format!("deleted {} ago and still there", duration(seconds)))
    })
}

pub(super) fn paused(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let until = view.queue.spec.paused_until.as_ref()?.0;
        (context.cluster.seconds_since(until) < 0).then(|| format!("paused until {until}"))
    })
}

pub(super) fn standing_claim(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let request = amounts(view.queue.spec.request.as_ref());
        let has_pods = has_pods(context, view.name.namespace.as_str());
        (!request.is_empty() && !has_pods)
            .then(|| format!("request {}, and the namespace has no pods", spaced(&request)))
    })
}

fn has_pods(context: &CheckContext<'_>, namespace: &str) -> bool {
    let state = context.cluster.snapshot.namespaces.get(&Namespace::from(namespace));
    state.is_some_and(|state| state.pods.iter().any(quotient_engine::snapshot::Pod::is_charged))
}

pub(super) fn childless(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let is_parent_of = |other: &QueueView| other.parent().as_ref() == Some(&view.name);
        let is_childless = view.is_parent() && !context.views.iter().any(is_parent_of);
        is_childless.then(|| "a parent queue without child queues".to_owned())
    })
}

pub(super) fn several(context: &CheckContext<'_>) -> Found {
    let mut leaves: BTreeMap<&str, usize> = BTreeMap::new();
    for view in context.queues().filter(|view| !view.is_parent()) {
        let count = leaves.entry(view.name.namespace.as_str()).or_default();
        *count = count.saturating_add(1);
    }
    let several = leaves.into_iter().filter(|(_, count)| *count > 1);
    Found::each(several.map(|(namespace, count)| format!("namespace {namespace} has {count} Queues")))
}

pub(super) fn protected(context: &CheckContext<'_>) -> Found {
    let settings = context.cluster.settings().map(|settings| settings.index.clone());
    let protected = settings.unwrap_or_default().protected;
    of_each(context, |view| {
        let is_protected = protected.contains(&view.name.namespace) && !view.is_parent();
        is_protected.then(|| format!("namespace {} is protected", view.name.namespace))
    })
}

pub(super) fn never_evicted(context: &CheckContext<'_>) -> Found {
    of_each(context, |view| {
        let eviction = view.queue.spec.eviction.as_ref()?;
        let is_never = eviction.policy == Some(EvictionPolicy::Never);
        let over = view.used().less(&view.deserved());
        (is_never && !over.is_empty())
            .then(|| format!("uses {} above its share, and eviction.policy is Never", spaced(&over)))
    })
}

/// The first minor version of Kubernetes with the policies that gate pods.
const GATES_SINCE: u32 = 36;

pub(super) fn gates(context: &CheckContext<'_>) -> Seen {
    let settings = context.cluster.settings()?;
    let is_old = context.facts.and_then(|facts| facts.version).is_some_and(|(_, minor)| minor < GATES_SINCE);
    let obstacle = match (settings.index.gate_mode, is_old) {
        (true, false) => return Some(Found::default()),
        (true, true) => "Kubernetes 1.36 and later gate pods",
        (false, _) => "gate mode of the operator is off",
    };
    context.has(Need::List("queues.quotient.dev")).then_some(())?;
    Some(of_each(context, |view| {
        let is_gate = view.queue.spec.admission == Admission::Gate;
        is_gate.then(|| format!("admission is Gate and works as Quota, because {obstacle}"))
    }))
}
