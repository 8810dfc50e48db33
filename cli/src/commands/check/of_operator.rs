//! Checks of the operator.

use quotient_engine::snapshot::Mode;

use super::CheckContext;
use super::finding::{Found, Seen};
use crate::manifests::OperatorFacts;

/// How old a Lease may be, in seconds: twice the longest `--lease-retry-seconds`.
const OLDEST_LEASE: i64 = 60;

pub(super) fn missing(context: &CheckContext<'_>) -> Found {
    Found::when(context.cluster.operator.is_none(), || {
        "no Deployment has the label app.kubernetes.io/part-of=quotient".to_owned()
    })
}

fn operator<'a>(context: &CheckContext<'a>) -> Option<&'a OperatorFacts> {
    context.cluster.operator.as_ref()
}

pub(super) fn not_ready(context: &CheckContext<'_>) -> Seen {
    let OperatorFacts { ready, replicas, .. } = operator(context)?;
    let is_found = ready < replicas || *replicas == 0;
    let found = Found::when(is_found, || format!("{ready} of {replicas} replicas are ready"));
    Some(found.or_tell(format!("{ready} of {replicas} replicas")))
}

pub(super) fn one_replica(context: &CheckContext<'_>) -> Seen {
    Some(Found::when(operator(context)?.replicas == 1, || "there is one replica".to_owned()))
}

pub(super) fn no_leader(context: &CheckContext<'_>) -> Seen {
    let operator = operator(context)?;
    let settings = operator.settings.as_ref().ok()?;
    if settings.lease.is_none() || !operator.has_leases {
        return None;
    }
    let Some((holder, renewed)) = &operator.leader else {
        return Some(Found::when(true, || "no replica holds the Lease".to_owned()));
    };
    let age = renewed.map(|renewed| context.cluster.snapshot.now.millis_since(renewed).div_euclid(1000));
    let found = Found::each(
        age.filter(|age| *age > OLDEST_LEASE).map(|age| format!("{holder} renewed the Lease {age} s ago")),
    );
    Some(found.or_tell("leader found"))
}

pub(super) fn flags(context: &CheckContext<'_>) -> Seen {
    let error = operator(context)?.settings.as_ref().err();
    Some(Found::each(error.map(|error| format!("the flags cannot be read: {error}"))))
}

pub(super) fn version(context: &CheckContext<'_>) -> Seen {
    let theirs = operator(context)?.version.as_deref()?;
    let ours = env!("CARGO_PKG_VERSION");
    let differs = theirs.trim_start_matches('v') != ours;
    Some(Found::when(differs, || format!("the operator has version {theirs}, this command {ours}")))
}

pub(super) fn mode(context: &CheckContext<'_>) -> Seen {
    let mode = context.cluster.settings()?.mode();
    Some(Found::when(mode != Mode::Full, || format!("the operator runs in mode {mode}: no pod is evicted")))
}

pub(super) fn rights(context: &CheckContext<'_>) -> Seen {
    Some(match context.facts?.rights.as_ref()? {
        Ok(rights) => Found::each(rights.missing.iter().map(|right| format!("the operator may not {right}")))
            .or_tell(format!("{} permissions", rights.needed)),
        Err(error) => Found::when(true, || format!("the rights of the operator are not known: {error}")),
    })
}

pub(super) fn optional_rights(context: &CheckContext<'_>) -> Seen {
    Some(Found::each(context.facts?.rights.as_ref()?.as_ref().ok()?.optional.iter().cloned()))
}

pub(super) fn metrics(context: &CheckContext<'_>) -> Seen {
    Some(match context.facts?.metrics.as_ref()? {
        Ok(series) => Found::default().or_tell(format!("{series} series of metrics")),
        Err(error) => Found::when(true, || error.clone()),
    })
}

pub(super) fn priority(context: &CheckContext<'_>) -> Seen {
    Some(Found::when(operator(context)?.priority_class.is_none(), || {
        "its pods have no priority class, so any pod may preempt them".to_owned()
    }))
}

pub(super) fn scraped(context: &CheckContext<'_>) -> Seen {
    operator(context)?;
    let monitors = context.facts?.monitors?;
    Some(Found::when(monitors == 0, || {
        "the cluster has the Prometheus Operator, and no ServiceMonitor or PodMonitor of Quotient".to_owned()
    }))
}
