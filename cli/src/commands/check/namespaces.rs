//! Checks of namespaces and their quotas.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{LimitRange, PodSpec, PodTemplateSpec, ResourceQuota};
use quotient_crds::ResourceMap;
use quotient_crds::names::{MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT, QUOTA};
use quotient_engine::amounts::{Amounts, Quantity};
use quotient_index::quotas::bounds_from_hard;

use super::Look;
use super::of_cluster::found;
use super::registry::Seen;
use crate::manifests::Object;
use crate::output::counted;

/// The resources that a quota of Quotient demands a request for.
const DEMANDED: [&str; 2] = ["cpu", "memory"];

pub(super) fn missing_requests(look: &Look<'_>) -> Seen {
    look.require("deployments.apps")?;
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (namespace, _, object) in look.objects() {
        let Some(template) = template_of(object).filter(|_| is_considered(look, namespace)) else { continue };
        let (lacking, all) = counts.entry(namespace).or_default();
        *all = all.saturating_add(1);
        if lacks_requests(template) {
            *lacking = lacking.saturating_add(1);
        }
    }
    let lacking =
        counts.into_iter().filter(|(namespace, (lacking, _))| *lacking > 0 && !has_defaults(look, namespace));
    let told = lacking.map(|(namespace, (lacking, all))| {
        format!(
            "{namespace}: {lacking} of {all} workloads have containers without cpu or memory requests; under a quota their new \
             pods are rejected"
        )
    });
    Some(told.collect())
}

/// Namespaces with a Queue; where there is no Queue at all, every one.
fn is_considered(look: &Look<'_>, namespace: &str) -> bool {
    let is_system = namespace.starts_with("kube-") || is_operators(look, namespace);
    look.is_managed(namespace) || look.views.is_empty() && !is_system
}

/// What people write: a Deployment rather than its ReplicaSets, and no Job of a QueueJob.
fn template_of(object: &Object) -> Option<&PodTemplateSpec> {
    if object.controller().is_some() {
        return None;
    }
    object.template()
}

pub(crate) fn lacks_requests(template: &PodTemplateSpec) -> bool {
    template.spec.as_ref().is_some_and(containers_lack_requests)
}

/// A limit without a request counts as the request.
fn containers_lack_requests(spec: &PodSpec) -> bool {
    let containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    containers.into_iter().any(|container| {
        let resources = container.resources.as_ref();
        DEMANDED.iter().any(|name| {
            let in_list =
                |list: Option<&BTreeMap<String, _>>| list.is_some_and(|list| list.contains_key(*name));
            !in_list(resources.and_then(|resources| resources.requests.as_ref()))
                && !in_list(resources.and_then(|resources| resources.limits.as_ref()))
        })
    })
}

/// Whether the Queue, or a LimitRange, gives containers cpu and memory.
fn has_defaults(look: &Look<'_>, namespace: &str) -> bool {
    let queues =
        look.views.iter().filter(|view| view.name.namespace.as_str() == namespace && !view.is_parent());
    let mut of_queue = queues.map(|view| match &view.queue.spec.default_requests {
        Some(map) => DEMANDED.iter().all(|name| map.get(name).is_some()),
        None => true,
    });
    if of_queue.next() == Some(true) {
        return true;
    }
    let ranges = look.objects().filter_map(|(of, _, object)| match object {
        Object::LimitRange(range) if of == namespace => Some(range.as_ref()),
        _ => None,
    });
    let given: Vec<String> = ranges.flat_map(default_requests).map(|(name, _)| name.clone()).collect();
    DEMANDED.iter().all(|name| given.iter().any(|given| given == name))
}

fn default_requests(range: &LimitRange) -> impl Iterator<Item = (&String, &str)> {
    let limits = range.spec.iter().flat_map(|spec| &spec.limits).filter(|limit| limit.type_ == "Container");
    limits.flat_map(|limit| {
        limit.default_request.iter().flatten().map(|(name, amount)| (name, amount.0.as_str()))
    })
}

pub(super) fn unmanaged(look: &Look<'_>) -> Seen {
    look.require("pods")?;
    look.require("queues.quotient.dev")?;
    let mut used = Amounts::new();
    let mut names = Vec::new();
    for (name, state) in &look.cluster.snapshot.namespaces {
        let is_system = name.as_str().starts_with("kube-") || is_operators(look, name.as_str());
        if state.governing().is_some() || is_system || !look.is_wanted(name.as_str()) {
            continue;
        }
        let pods = state.pods.iter().filter(|pod| pod.is_charged() && pod.node.is_some());
        let mut has_pods = false;
        for pod in pods {
            used.add_all(pod.requests());
            has_pods = true;
        }
        if has_pods {
            names.push(name.as_str());
        }
    }
    let first: Vec<&str> = names.iter().take(3).copied().collect();
    let more = if names.len() > first.len() { ", …" } else { "" };
    let told = format!(
        "{} no Queue and use{} {} ({}{more})",
        counted(names.len(), "namespace with pods has", "namespaces with pods have"),
        if names.len() == 1 { "s" } else { "" },
        used.compact(),
        first.join(", ")
    );
    Some(if names.is_empty() { Vec::new() } else { vec![told] })
}

fn is_operators(look: &Look<'_>, namespace: &str) -> bool {
    look.cluster.operator.as_ref().is_some_and(|operator| operator.namespace == namespace)
}

/// The ResourceQuotas in namespaces with a Queue.
fn quotas<'l>(look: &'l Look<'_>) -> impl Iterator<Item = (&'l str, &'l ResourceQuota)> {
    look.managed_objects().filter_map(|(namespace, _, object)| match object {
        Object::ResourceQuota(quota) => Some((namespace, quota.as_ref())),
        _ => None,
    })
}

fn is_called_quotient(quota: &ResourceQuota) -> bool {
    quota.metadata.name.as_deref() == Some(QUOTA)
}

fn is_ours(quota: &ResourceQuota) -> bool {
    let label = quota.metadata.labels.as_ref().and_then(|labels| labels.get(MANAGED_BY_LABEL));
    label.is_some_and(|label| label == MANAGED_BY_QUOTIENT)
}

pub(super) fn foreign_quota(look: &Look<'_>) -> Seen {
    look.require("resourcequotas")?;
    let others = quotas(look).filter(|(_, quota)| {
        let hard = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref());
        !is_called_quotient(quota) && hard.is_some_and(|hard| !bounds_from_hard(hard).is_empty())
    });
    let name = |quota: &ResourceQuota| quota.metadata.name.clone().unwrap_or_default();
    Some(
        others
            .map(|(namespace, quota)| format!("{namespace}: ResourceQuota {} bounds the share", name(quota)))
            .collect(),
    )
}

pub(super) fn quota_of_others(look: &Look<'_>) -> Seen {
    look.require("resourcequotas")?;
    let theirs = quotas(look).filter(|(_, quota)| is_called_quotient(quota) && !is_ours(quota));
    Some(
        theirs
            .map(|(namespace, _)| format!("{namespace}: the ResourceQuota quotient is not Quotient's"))
            .collect(),
    )
}

pub(super) fn orphaned(look: &Look<'_>) -> Seen {
    look.require("resourcequotas")?;
    look.require_observed()?;
    look.require("queues.quotient.dev")?;
    let orphaned = look.objects().filter_map(|(namespace, _, object)| {
        let Object::ResourceQuota(quota) = object else { return None };
        let mut owners = quota.metadata.owner_references.iter().flatten();
        let is_owned = owners.any(|owner| owner.kind == "Queue");
        let is_orphan =
            is_called_quotient(quota) && is_ours(quota) && (!is_owned || !look.is_managed(namespace));
        is_orphan.then(|| format!("{namespace}: no Queue owns the ResourceQuota quotient"))
    });
    Some(orphaned.collect())
}

pub(super) fn not_enforced(look: &Look<'_>) -> Seen {
    look.require("resourcequotas")?;
    look.require_observed()?;
    let hard =
        |quota: &ResourceQuota| quota.spec.as_ref().and_then(|spec| spec.hard.clone()).unwrap_or_default();
    let enforced = |quota: &ResourceQuota| {
        quota.status.as_ref().and_then(|status| status.hard.clone()).unwrap_or_default()
    };
    let lagging =
        quotas(look).filter(|(_, quota)| is_called_quotient(quota) && hard(quota) != enforced(quota));
    Some(
        lagging
            .map(|(namespace, _)| format!("{namespace}: status.hard of the quota differs from spec.hard"))
            .collect(),
    )
}

/// How long the quota controller may take: each reclaim waits for it before pods are evicted.
const MOST_LATENCY: Duration = Duration::from_secs(1);

pub(super) fn latency(look: &Look<'_>) -> Seen {
    let latency = look.facts?.quota_latency?;
    Some(found(latency > MOST_LATENCY, || {
        format!("the quota controller enforces a new quota after {} ms", latency.as_millis())
    }))
}

pub(super) fn limit_ranges(look: &Look<'_>) -> Seen {
    look.require("limitranges")?;
    let conflicts = look.managed_objects().flat_map(|(namespace, name, object)| {
        let Object::LimitRange(range) = object else { return Vec::new() };
        let defaults =
            look.views.iter().find(|view| view.name.namespace.as_str() == namespace && !view.is_parent());
        let defaults = defaults.map(|view| view.queue.spec.default_requests.clone());
        let defaults = defaults.map(|stated| stated.unwrap_or_else(ResourceMap::default_requests));
        conflicts_of(range, &defaults.unwrap_or_default())
            .into_iter()
            .map(|told| format!("{namespace}: LimitRange {name} {told}"))
            .collect()
    });
    Some(conflicts.collect())
}

/// `demands at least 200m cpu of a container, and the default request is 100m`.
fn conflicts_of(range: &LimitRange, defaults: &ResourceMap) -> Vec<String> {
    let limits = range.spec.iter().flat_map(|spec| &spec.limits).filter(|limit| limit.type_ == "Container");
    let amount = |text: &str| text.parse::<Quantity>().ok().map(Quantity::nano);
    let mut told = Vec::new();
    for limit in limits {
        for (name, text) in defaults.iter() {
            let Some(default) = amount(text.as_str()) else { continue };
            let of =
                |list: &Option<BTreeMap<String, k8s_openapi::apimachinery::pkg::api::resource::Quantity>>| {
                    list.as_ref().and_then(|list| list.get(name)).map(|bound| bound.0.clone())
                };
            if let Some(least) =
                of(&limit.min).filter(|least| amount(least).is_some_and(|least| default < least))
            {
                told.push(format!(
                    "demands at least {least} {name} of a container, and the default request is {text}"
                ));
            }
            if let Some(most) = of(&limit.max).filter(|most| amount(most).is_some_and(|most| default > most))
            {
                told.push(format!(
                    "allows at most {most} {name} to a container, and the default request is {text}"
                ));
            }
        }
    }
    told
}
