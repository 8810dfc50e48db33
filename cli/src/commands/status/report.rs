//! A status for programs.

use std::collections::BTreeMap;

use quotient_crds::{QueueStatus, ResourceMap};

use super::Status;
use super::findings::Finding;
use super::overview::unmanaged;
use crate::manifests::OperatorFacts;
use crate::output::{quantities, report, time_text};
use crate::queues::QueueView;

report! {
    pub(crate) struct Report(status: &Status, found: &[Finding]) {
        #[serde(skip_serializing_if = "Option::is_none")]
        operator: Option<OperatorReport> = status.cluster.operator.as_ref().map(OperatorReport::of),
        /// Absent if not everything that decisions depend on was read.
        #[serde(skip_serializing_if = "Option::is_none")]
        capacity: Option<BTreeMap<String, String>> =
            status.cluster.plan().map(|plan| quantities(&plan.capacity, &plan.resources)),
        #[serde(skip_serializing_if = "Option::is_none")]
        unmanaged_used: Option<BTreeMap<String, String>> =
            status.cluster.plan().map(|plan| quantities(&unmanaged(status), &plan.resources)),
        queues: Vec<QueueReport> = status.views.iter().map(|view| QueueReport::of(view, status)).collect(),
        findings: Vec<FindingReport> = found.iter().map(FindingReport::of).collect(),
    }

    struct OperatorReport(operator: &OperatorFacts) {
        namespace: String = operator.namespace.clone(),
        name: String = operator.name.clone(),
        version: Option<String> = operator.version.clone(),
        mode: Option<String> = operator.settings.as_ref().ok().map(|settings| settings.mode().to_string()),
        replicas: i32 = operator.replicas,
        ready_replicas: i32 = operator.ready,
        leader: Option<String> = operator.leader.as_ref().map(|(holder, _)| holder.clone()),
        lease_renewed: Option<String> =
            operator.leader.as_ref().and_then(|(_, renewed)| renewed.map(time_text)),
    }

    struct QueueReport(view: &QueueView, of: &Status) {
        namespace: String = view.name.namespace.to_string(),
        name: String = view.name.name.to_string(),
        parent: Option<String> = view.parent().map(|parent| parent.to_string()),
        weight: i32 = view.weight(),
        guaranteed: Option<ResourceMap> = view.queue.spec.guaranteed.clone(),
        limit: Option<ResourceMap> = view.queue.spec.limit.clone(),
        state: String = view.state().to_owned(),
        /// Absent while it is not starved, or not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        starved_seconds: Option<i64> =
            view.starved(of.cluster.snapshot.now).and_then(|starved| starved.seconds),
        /// Whether the operator wrote the status; else it was computed.
        reported: bool = view.is_reported,
        status: QueueStatus = QueueStatus::clone(&view.status),
    }

    struct FindingReport(finding: &Finding) {
        queue: String = finding.queue.clone(),
        serious: bool = finding.is_serious,
        reason: String = finding.reason.clone(),
        message: String = finding.message.clone(),
        command: String = format!("kubectl quotient {}", finding.command),
    }
}
