//! Checks of workloads in namespaces with a Queue.

use k8s_openapi::api::apps::v1::Deployment;
use quotient_engine::reasons::KeptReason;
use quotient_engine::snapshot::Pod;
use quotient_index::job_has_ended;
use quotient_index::sizes::surges_first;

use super::CheckContext;
use super::finding::Found;
use crate::objects::{Object, ignores_evictions};
use crate::output::{counted, duration};

/// What the Queues report with this reason.
pub(super) fn unmet(context: &CheckContext<'_>, reason: &str) -> Found {
    let all = context.queues().flat_map(|view| view.status.unmet.iter().map(move |unmet| (view, unmet)));
    let sentences = all.filter(|(_, unmet)| unmet.reason == reason).map(|(view, unmet)| {
        format!("{} {}/{}: {}", unmet.kind, view.name.namespace, unmet.name, unmet.message)
    });
    Found::each(sentences)
}

pub(super) fn set_aside(context: &CheckContext<'_>) -> Found {
    let all = context.queues().flat_map(|view| view.status.set_aside.iter().map(move |entry| (view, entry)));
    Found::each(all.map(|(view, entry)| {
        let (kind, namespace, name) = (&entry.kind, &view.name.namespace, &entry.name);
        let times = counted(entry.times, "time", "times");
        format!("{kind} {namespace}/{name} had room and did not start, {times}")
    }))
}

/// `team-a/web`.
fn full_name(object: &Object) -> String {
    format!("{}/{}", object.namespace(), object.name())
}

pub(super) fn surge(context: &CheckContext<'_>) -> Found {
    let stuck = context.managed_objects().filter(|object| object.get().is_some_and(keeps_all_pods));
    Found::all(
        "Deployment",
        stuck.map(full_name),
        "cannot roll out at its full share: maxUnavailable is 0 pods",
        "cannot roll out at their full share, because maxUnavailable is 0 pods",
    )
}

/// Whether a Deployment with pods starts a new one before it ends an old one.
fn keeps_all_pods(deployment: &Deployment) -> bool {
    let Some(spec) = &deployment.spec else { return false };
    let replicas = u32::try_from(spec.replicas.unwrap_or(1)).unwrap_or_default();
    replicas > 0 && surges_first(spec, replicas)
}

pub(super) fn job_retries(context: &CheckContext<'_>) -> Found {
    let counting = context.managed_objects().filter(|object| {
        let Object::Job(job) = object else { return false };
        !job.status.as_ref().is_some_and(job_has_ended)
            && object.controller().is_none_or(|owner| owner.kind != "QueueJob")
            && !ignores_evictions(job)
    });
    let sentences = ["counts evictions against backoffLimit", "count evictions against backoffLimit"];
    Found::all("Job", counting.map(full_name), sentences[0], sentences[1])
}

pub(super) fn budgets(context: &CheckContext<'_>) -> Found {
    let empty = context.managed_objects().filter(|object| {
        let Object::PodDisruptionBudget(budget) = object else { return false };
        budget.status.as_ref().is_some_and(|status| {
            status.disruptions_allowed == Some(0) && status.expected_pods.is_some_and(|pods| pods > 0)
        })
    });
    Found::all(
        "PodDisruptionBudget",
        empty.map(full_name),
        "allows 0: its pods cannot be reclaimed",
        "allow 0, so their pods cannot be reclaimed",
    )
}

/// The pods in wanted namespaces with a Queue that use something.
fn pods<'l>(context: &'l CheckContext<'_>) -> impl Iterator<Item = (String, &'l Pod)> {
    let namespaces = context.cluster.snapshot.namespaces.iter();
    let of_queues =
        namespaces.filter(|(name, _)| context.is_wanted(name.as_str()) && context.is_managed(name.as_str()));
    of_queues.flat_map(|(namespace, state)| {
        let pods = state.pods.iter().filter(|pod| pod.is_charged());
        pods.map(move |pod| (format!("{namespace}/{}", pod.name), pod))
    })
}

/// The pods for which `is_one` holds, in one sentence.
fn pods_that(context: &CheckContext<'_>, is_one: fn(&Pod) -> bool, one: &str, several: &str) -> Found {
    let names = pods(context).filter(|(_, pod)| is_one(pod)).map(|(name, _)| name);
    Found::all("Pod", names, one, several)
}

pub(super) fn bare(context: &CheckContext<'_>) -> Found {
    let is_bare = |pod: &Pod| pod.owner().is_none();
    pods_that(context, is_bare, "has no controller", "have no controller")
}

pub(super) fn kubevirt(context: &CheckContext<'_>) -> Found {
    let is_machine = |pod: &Pod| pod.kept == Some(KeptReason::VirtualMachine);
    pods_that(context, is_machine, "runs a virtual machine", "run virtual machines")
}

pub(super) fn stuck(context: &CheckContext<'_>) -> Found {
    let now = context.cluster.snapshot.now;
    let overdue = pods(context).filter(|(_, pod)| pod.is_overdue(now));
    Found::each(overdue.filter_map(|(name, pod)| {
        let late = duration(now.millis_since(pod.deletion?).div_euclid(1000));
        Some(format!("Pod {name} should have ended {late} ago"))
    }))
}

pub(super) fn claims(context: &CheckContext<'_>) -> Found {
    let claiming = context.managed_objects().filter(|object| {
        let Object::Pod(pod) = object else { return false };
        let claims = pod.spec.as_ref().and_then(|spec| spec.resource_claims.as_ref());
        claims.is_some_and(|claims| !claims.is_empty())
    });
    Found::all("Pod", claiming.map(full_name), "has resource claims", "have resource claims")
}
