//! Checks of Queues.

use quotient_crds::{Admission, ConditionType};
use quotient_engine::names::Namespace;

use super::CheckContext;
use super::finding::{Found, Seen};
use crate::output::{duration, spaced};
use crate::queues::{QueueView, amounts};

/// How long a queue may be starved, in seconds.
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
    Some(of_each(context, |view| {
        let is_gate = view.queue.spec.admission == Admission::Gate;
        is_gate.then(|| format!("admission is Gate and works as Quota, because {obstacle}"))
    }))
}
