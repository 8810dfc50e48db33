//! Checks of workloads in namespaces with a Queue.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::Look;
use super::registry::Seen;
use crate::commands::explain::ignores_evictions;
use crate::manifests::Object;
use crate::output::duration;

/// What the Queues report with this reason.
fn unmet(look: &Look<'_>, reason: &str) -> Seen {
    look.require("queues.quotient.dev")?;
    let all = look.queues().flat_map(|view| view.status.unmet.iter().map(move |unmet| (view, unmet)));
    let told = all.filter(|(_, unmet)| unmet.reason == reason).map(|(view, unmet)| {
        format!("{} {}/{}: {}", unmet.kind, view.name.namespace, unmet.name, unmet.message)
    });
    Some(told.collect())
}

pub(super) fn rejected(look: &Look<'_>) -> Seen {
    unmet(look, "PodsRejected")
}

pub(super) fn above_share(look: &Look<'_>) -> Seen {
    unmet(look, "UnitAboveShare")
}

pub(super) fn no_node(look: &Look<'_>) -> Seen {
    unmet(look, "NoNodeFits")
}

pub(super) fn set_aside(look: &Look<'_>) -> Seen {
    look.require("queues.quotient.dev")?;
    let all = look.queues().flat_map(|view| view.status.set_aside.iter().map(move |entry| (view, entry)));
    let told = all.map(|(view, entry)| {
        format!(
            "{} {}/{} had room and did not start, {} times",
            entry.kind, view.name.namespace, entry.name, entry.times
        )
    });
    Some(told.collect())
}

/// `Deployment team-a/web`.
fn full_name(namespace: &str, name: &str, object: &Object) -> String {
    format!("{} {namespace}/{name}", object.kind().name())
}

pub(super) fn surge(look: &Look<'_>) -> Seen {
    look.require("deployments.apps")?;
    let told = look.managed_objects().filter_map(|(namespace, name, object)| {
        let Object::Deployment(deployment) = object else { return None };
        let is_stuck = keeps_all_pods(deployment)?;
        is_stuck.then(|| {
            format!(
                "{} cannot roll out while the queue is full: maxUnavailable is 0 pods",
                full_name(namespace, name, object)
            )
        })
    });
    Some(told.collect())
}

/// Whether a rolling update starts a new pod before it ends an old one; none for what does not roll.
fn keeps_all_pods(deployment: &Deployment) -> Option<bool> {
    let spec = deployment.spec.as_ref()?;
    let strategy = spec.strategy.as_ref();
    if strategy.and_then(|strategy| strategy.type_.as_deref()).is_some_and(|kind| kind != "RollingUpdate") {
        return None;
    }
    let replicas = i64::from(spec.replicas.unwrap_or(1));
    let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
    let unavailable = match rolling.and_then(|rolling| rolling.max_unavailable.as_ref()) {
        Some(IntOrString::Int(pods)) => i64::from(*pods),
        Some(IntOrString::String(text)) => percent(text.trim_end_matches('%').parse().ok()?, replicas),
        None => percent(25, replicas),
    };
    Some(replicas > 0 && unavailable == 0)
}

/// Rounded down, as the deployment controller does.
fn percent(percent: i64, of: i64) -> i64 {
    percent.saturating_mul(of).div_euclid(100)
}

pub(super) fn job_retries(look: &Look<'_>) -> Seen {
    look.require("jobs.batch")?;
    let told = look.managed_objects().filter_map(|(namespace, name, object)| {
        let Object::Job(job) = object else { return None };
        let is_done = job.status.as_ref().is_some_and(|status| status.completion_time.is_some());
        let counts = !is_done
            && object.controller().is_none_or(|owner| owner.kind != "QueueJob")
            && !ignores_evictions(job);
        counts
            .then(|| format!("{} counts evictions against backoffLimit", full_name(namespace, name, object)))
    });
    Some(told.collect())
}

pub(super) fn budgets(look: &Look<'_>) -> Seen {
    look.require("poddisruptionbudgets.policy")?;
    let told = look.managed_objects().filter_map(|(namespace, name, object)| {
        let Object::PodDisruptionBudget(budget) = object else { return None };
        let status = budget.status.as_ref()?;
        let allows_none =
            status.disruptions_allowed == Some(0) && status.expected_pods.is_some_and(|pods| pods > 0);
        allows_none.then(|| {
            format!(
                "{} allows no disruption: its pods cannot be reclaimed",
                full_name(namespace, name, object)
            )
        })
    });
    Some(told.collect())
}

/// The pods in namespaces with a Queue that use something.
fn pods<'l>(look: &'l Look<'_>) -> impl Iterator<Item = (&'l str, &'l str, &'l Pod)> {
    look.managed_objects().filter_map(|(namespace, name, object)| match object {
        Object::Pod(pod) => {
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            let is_over = matches!(phase, Some("Succeeded" | "Failed"));
            (!is_over).then_some((namespace, name, pod.as_ref()))
        }
        _ => None,
    })
}

pub(super) fn bare(look: &Look<'_>) -> Seen {
    look.require("pods")?;
    let bare = pods(look).filter(|(.., pod)| pod.metadata.owner_references.iter().flatten().next().is_none());
    Some(bare.map(|(namespace, name, _)| format!("Pod {namespace}/{name} has no controller")).collect())
}

/// What a Queue allows unless it says otherwise.
const MOST_GRACE: i64 = 600;

pub(super) fn grace(look: &Look<'_>) -> Seen {
    look.require("pods")?;
    let told = pods(look).filter_map(|(namespace, name, pod)| {
        let own = pod.spec.as_ref()?.termination_grace_period_seconds?;
        let queue =
            look.views.iter().find(|view| view.name.namespace.as_str() == namespace && !view.is_parent())?;
        let most = queue.queue.spec.eviction.as_ref().and_then(|eviction| eviction.max_grace_seconds);
        let most = most.map_or(MOST_GRACE, i64::from);
        (own > most).then(|| {
            format!(
                "Pod {namespace}/{name} asks for {} to end, and an eviction gives {}",
                duration(own),
                duration(most)
            )
        })
    });
    Some(told.collect())
}

/// How long past its deadline a pod may be, in seconds.
const LATE: i64 = 60;

pub(super) fn stuck(look: &Look<'_>) -> Seen {
    look.require("pods")?;
    let now = look.cluster.snapshot.now.millis();
    let told = pods(look).filter_map(|(namespace, name, pod)| {
        let deadline = pod.metadata.deletion_timestamp.as_ref()?.0.as_millisecond();
        let late = now.saturating_sub(deadline).div_euclid(1000);
        (late > LATE).then(|| format!("Pod {namespace}/{name} should have ended {} ago", duration(late)))
    });
    Some(told.collect())
}

pub(super) fn kubevirt(look: &Look<'_>) -> Seen {
    look.require("pods")?;
    let is_machine = |pod: &Pod| {
        let labels = pod.metadata.labels.as_ref();
        labels.and_then(|labels| labels.get("kubevirt.io")).is_some_and(|value| value == "virt-launcher")
    };
    let machines = pods(look).filter(|(.., pod)| is_machine(pod));
    Some(
        machines
            .map(|(namespace, name, _)| format!("Pod {namespace}/{name} runs a virtual machine"))
            .collect(),
    )
}

pub(super) fn claims(look: &Look<'_>) -> Seen {
    look.require("pods")?;
    let has_claims = |pod: &Pod| {
        pod.spec
            .as_ref()
            .and_then(|spec| spec.resource_claims.as_ref())
            .is_some_and(|claims| !claims.is_empty())
    };
    let claiming = pods(look).filter(|(.., pod)| has_claims(pod));
    Some(claiming.map(|(namespace, name, _)| format!("Pod {namespace}/{name} has resource claims")).collect())
}
