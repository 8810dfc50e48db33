//! A status for programs.

use std::collections::BTreeMap;

use quotient_crds::{QueueStatus, ResourceMap};
use serde::Serialize;

use super::findings::Finding;
use super::header::unmanaged;
use super::instant::Status;
use crate::output::{quantities, time_text};
use crate::queues::{QueueView, resource_names};

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<OperatorReport>,
    /// Absent if not everything that decisions depend on was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unmanaged_used: Option<BTreeMap<String, String>>,
    queues: Vec<QueueReport>,
    findings: Vec<FindingReport>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct OperatorReport {
    namespace: String,
    name: String,
    version: Option<String>,
    mode: Option<String>,
    replicas: i32,
    ready_replicas: i32,
    leader: Option<String>,
    lease_renewed: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct QueueReport {
    namespace: String,
    name: String,
    parent: Option<String>,
    weight: i32,
    guaranteed: Option<ResourceMap>,
    limit: Option<ResourceMap>,
    state: String,
    /// Absent while it is not starved, or not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    starved_seconds: Option<i64>,
    /// Whether the operator wrote the status; else it was computed.
    reported: bool,
    status: QueueStatus,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct FindingReport {
    queue: String,
    serious: bool,
    reason: String,
    message: String,
    command: String,
}

pub(super) fn report(status: &Status, found: &[Finding]) -> Report {
    let resources = match &status.plan {
        Some(plan) => plan.resources.clone(),
        None => resource_names(&status.views),
    };
    Report {
        operator: operator(status),
        capacity: status.plan.as_ref().map(|plan| quantities(&plan.capacity, &resources)),
        unmanaged_used: status.plan.as_ref().map(|_| quantities(&unmanaged(status), &resources)),
        queues: status.views.iter().map(|view| queue(view, status)).collect(),
        findings: found.iter().map(finding).collect(),
    }
}

fn operator(status: &Status) -> Option<OperatorReport> {
    let operator = status.cluster.operator.as_ref()?;
    Some(OperatorReport {
        namespace: operator.namespace.clone(),
        name: operator.name.clone(),
        version: operator.version.clone(),
        mode: operator.settings.as_ref().ok().map(|settings| settings.mode().to_string()),
        replicas: operator.replicas,
        ready_replicas: operator.ready,
        leader: operator.leader.as_ref().map(|(holder, _)| holder.clone()),
        lease_renewed: operator.leader.as_ref().and_then(|(_, renewed)| renewed.map(time_text)),
    })
}

fn queue(view: &QueueView, status: &Status) -> QueueReport {
    QueueReport {
        namespace: view.name.namespace.to_string(),
        name: view.name.name.to_string(),
        parent: view.parent().map(|parent| parent.to_string()),
        weight: view.weight(),
        guaranteed: view.queue.spec.guaranteed.clone(),
        limit: view.queue.spec.limit.clone(),
        state: view.state().to_owned(),
        starved_seconds: view.starved(status.cluster.snapshot.now).and_then(|starved| starved.seconds),
        reported: view.is_reported,
        status: view.status.clone(),
    }
}

fn finding(finding: &Finding) -> FindingReport {
    FindingReport {
        queue: finding.queue.clone(),
        serious: finding.is_serious,
        reason: finding.reason.clone(),
        message: finding.message.clone(),
        command: format!("kubectl quotient {}", finding.command),
    }
}
