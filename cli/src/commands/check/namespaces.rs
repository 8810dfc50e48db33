//! Checks of namespaces and their quotas.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ResourceQuota;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use quotient_crds::names::QUOTA;
use quotient_engine::snapshot::Pod;
use quotient_index::quotas::{bounds_from_hard, is_scoped};

use super::CheckContext;
use super::finding::{Found, Seen, first_few};
use crate::manifests::without_requests;
use crate::objects::{Object, goes_with_queue, is_ours};
use crate::output::{counted, spaced, sum};
use crate::queues::percentage;

pub(super) fn missing_requests(context: &CheckContext<'_>) -> Found {
    let namespaces = context.cluster.snapshot.namespaces.iter();
    let considered = namespaces.filter(|(name, _)| is_considered(context, name.as_str()));
    Found::each(considered.filter_map(|(name, state)| {
        let (lacking, all) = without_requests(state);
        let have = if lacking == 1 { "has" } else { "have" };
        (lacking > 0).then(|| {
            format!(
                "{name}: {lacking} of {} {have} containers without cpu or memory requests; new pods will be rejected",
                counted(all, "workload", "workloads")
            )
        })
    }))
}

/// Wanted namespaces with a Queue; where there is no Queue at all, every one.
fn is_considered(context: &CheckContext<'_>, namespace: &str) -> bool {
    let is_open = || context.views.is_empty() && !context.cluster.is_of_system(namespace);
    context.is_wanted(namespace) && (context.is_managed(namespace) || is_open())
}

pub(super) fn unmanaged(context: &CheckContext<'_>) -> Found {
    let mut used = Vec::new();
    let mut names = Vec::new();
    for (name, state) in &context.cluster.snapshot.namespaces {
        let name = name.as_str();
        if state.governing().is_some() || context.cluster.is_of_system(name) || !context.is_wanted(name) {
            continue;
        }
        let mut pods = state.pods.iter().filter(|pod| pod.is_charged() && pod.node.is_some()).peekable();
        if pods.peek().is_some() {
            names.push(name);
        }
        used.extend(pods.map(Pod::requests));
    }
    let used = sum(used);
    let whole = context.cluster.offered();
    let part = if whole.is_empty() { String::new() } else { format!(" ({} %)", percentage(&used, &whole)) };
    Found::when(!names.is_empty(), || {
        format!(
            "{} no Queue and use{} {}{part}: {}",
            counted(names.len(), "namespace with pods has", "namespaces with pods have"),
            if names.len() == 1 { "s" } else { "" },
            spaced(&used),
            first_few(&names)
        )
    })
}

/// The ResourceQuotas in namespaces with a Queue.
fn quotas<'l>(context: &'l CheckContext<'_>) -> impl Iterator<Item = (&'l str, &'l ResourceQuota)> {
    context.managed_objects().filter_map(|object| Some((object.namespace(), object.get()?)))
}

fn hard(quota: &ResourceQuota) -> Option<&BTreeMap<String, Text>> {
    quota.spec.as_ref()?.hard.as_ref()
}

fn is_called_quotient(quota: &ResourceQuota) -> bool {
    quota.metadata.name.as_deref() == Some(QUOTA)
}

pub(super) fn foreign_quota(context: &CheckContext<'_>) -> Found {
    let bounds =
        |quota| !is_scoped(quota) && hard(quota).is_some_and(|hard| !bounds_from_hard(hard).is_empty());
    let others = quotas(context).filter(|(_, quota)| !is_called_quotient(quota) && bounds(quota));
    Found::each(others.map(|(namespace, quota)| {
        let name = quota.metadata.name.as_deref().unwrap_or_default();
        format!("{namespace}: ResourceQuota {name} bounds the share")
    }))
}

pub(super) fn quota_of_others(context: &CheckContext<'_>) -> Found {
    let theirs = quotas(context).filter(|(_, quota)| is_called_quotient(quota) && !is_ours(&quota.metadata));
    let sentence = |namespace| format!("{namespace}: the ResourceQuota quotient is not Quotient's");
    Found::each(theirs.map(|(namespace, _)| sentence(namespace)))
}

pub(super) fn orphaned(context: &CheckContext<'_>) -> Found {
    let orphaned = context.objects().filter(|object| {
        let Object::ResourceQuota(quota) = object else { return false };
        is_called_quotient(quota)
            && is_ours(&quota.metadata)
            && (!goes_with_queue(&quota.metadata) || !context.is_managed(object.namespace()))
    });
    let sentence =
        |object: &Object| format!("{}: no Queue owns the ResourceQuota quotient", object.namespace());
    Found::each(orphaned.map(sentence))
}

pub(super) fn not_enforced(context: &CheckContext<'_>) -> Found {
    let lagging = quotas(context).filter(|(_, quota)| {
        let enforced = quota.status.as_ref().and_then(|status| status.hard.as_ref());
        is_called_quotient(quota) && hard(quota) != enforced
    });
    let sentence = |namespace| format!("{namespace}: status.hard of the quota differs from spec.hard");
    Found::each(lagging.map(|(namespace, _)| sentence(namespace)))
}

/// How long the quota controller may take: each reclaim waits for it before pods are evicted.
const MOST_LATENCY: Duration = Duration::from_secs(1);

pub(super) fn latency(context: &CheckContext<'_>) -> Seen {
    let latency = context.facts?.quota_latency?;
    let millis = latency.as_millis();
    let found = Found::when(latency > MOST_LATENCY, || {
        format!("the quota controller enforces a new quota after {millis} ms")
    });
    Some(found.or_tell(format!("quota controller answers in {millis} ms")))
}
