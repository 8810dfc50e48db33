//! The kinds that are read of a cluster: those that the operator watches.

use quotient_index::WorkloadKind;
use serde_json::Value;

/// A kind, as the API serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ApiKind {
    /// Group and version.
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) is_namespaced: bool,
    /// Whether decisions go on where the API does not serve it.
    pub(crate) is_optional: bool,
    /// Which of its objects matter; empty for all.
    pub(crate) field_selector: &'static str,
}

impl ApiKind {
    pub(crate) const fn new(api_version: &'static str, kind: &'static str, plural: &'static str) -> Self {
        Self { api_version, kind, plural, is_namespaced: true, is_optional: false, field_selector: "" }
    }

    pub(crate) const fn of_cluster(self) -> Self {
        Self { is_namespaced: false, ..self }
    }

    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// A kind of the operator's setting. The process ends soon, and the settings are read once.
    pub(super) fn configured(kind: &WorkloadKind) -> Self {
        let plural: &'static str = Box::leak(kind.plural.clone().into_boxed_str());
        Self::new(kind.api_version(), kind.kind(), plural)
    }

    /// The path of its list.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        match namespace.filter(|_| self.is_namespaced) {
            Some(namespace) => format!("/{root}/{}/namespaces/{namespace}/{}", self.api_version, self.plural),
            None => format!("/{root}/{}/{}", self.api_version, self.plural),
        }
    }

    /// An object of a list, which leaves kind and version out, with both.
    pub(super) fn complete(&self, mut object: Value) -> Value {
        if let Value::Object(fields) = &mut object {
            fields.entry("apiVersion").or_insert_with(|| self.api_version.into());
            fields.entry("kind").or_insert_with(|| self.kind.into());
        }
        object
    }

    /// `jobs.batch`: what kubectl calls it.
    pub(crate) fn resource(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.to_owned(),
        }
    }
}

/// Finished pods use nothing of a share.
const UNFINISHED: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// Every kind that a decision depends on.
pub(crate) const KINDS: [ApiKind; 21] = [
    ApiKind::new("v1", "Namespace", "namespaces").of_cluster(),
    ApiKind::new("v1", "Node", "nodes").of_cluster(),
    ApiKind { field_selector: UNFINISHED, ..ApiKind::new("v1", "Pod", "pods") },
    ApiKind::new("v1", "ResourceQuota", "resourcequotas"),
    ApiKind::new("v1", "LimitRange", "limitranges"),
    ApiKind::new("apps/v1", "Deployment", "deployments"),
    ApiKind::new("apps/v1", "ReplicaSet", "replicasets"),
    ApiKind::new("apps/v1", "StatefulSet", "statefulsets"),
    ApiKind::new("apps/v1", "DaemonSet", "daemonsets"),
    ApiKind::new("batch/v1", "Job", "jobs"),
    ApiKind::new("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"),
    ApiKind::new("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    ApiKind::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses").of_cluster(),
    ApiKind::new("quotient.dev/v1alpha1", "Queue", "queues"),
    ApiKind::new("quotient.dev/v1alpha1", "QueueJob", "queuejobs"),
    ApiKind::new("scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups").optional(),
    ApiKind::new("scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups").optional(),
    ApiKind::new("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups").optional(),
    ApiKind::new("scheduling.k8s.io/v1alpha2", "PodGroup", "podgroups").optional(),
    ApiKind::new("scheduling.k8s.io/v1alpha3", "PodGroup", "podgroups").optional(),
    ApiKind::new("scheduling.k8s.io/v1beta1", "PodGroup", "podgroups").optional(),
];

/// What happened, as components report it.
pub(crate) const EVENTS: ApiKind = ApiKind::new("events.k8s.io/v1", "Event", "events");

/// The kinds that are installed.
pub(crate) const CRDS: ApiKind =
    ApiKind::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions")
        .of_cluster();

/// The rules of admission.
pub(crate) const POLICIES: ApiKind = ApiKind::new(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
)
.of_cluster();

/// Questions about the rights of an account.
pub(crate) const ACCESS_REVIEWS: ApiKind =
    ApiKind::new("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews").of_cluster();

/// The Lease of the leader.
pub(crate) const LEASES: ApiKind = ApiKind::new("coordination.k8s.io/v1", "Lease", "leases");

/// The kind with this plural among those of Kubernetes and Quotient; the first of [`KINDS`] if there is none, which a test
/// excludes.
pub(crate) fn kind(plural: &str) -> &'static ApiKind {
    let [first, ..] = &KINDS;
    KINDS.iter().find(|kind| kind.plural == plural).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What the operator calls the kinds, with versions only where there are several.
    #[test]
    fn what_the_operator_watches_is_read() {
        let called = |kind: &ApiKind| match kind.api_version.split_once('/') {
            Some((group, version)) if kind.plural == "podgroups" => format!("podgroups.{version}.{group}"),
            _ => kind.plural.to_owned(),
        };
        let read: BTreeSet<String> = KINDS.iter().map(called).collect();
        let watched: BTreeSet<String> =
            quotient_operator::watch::KINDS.iter().map(|kind| (*kind).to_owned()).collect();
        assert_eq!(read, watched);
    }

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(kind("pods").path(Some("a")), "/api/v1/namespaces/a/pods");
        assert_eq!(kind("nodes").path(Some("a")), "/api/v1/nodes");
        assert_eq!(kind("jobs").path(None), "/apis/batch/v1/jobs");
        assert_eq!(kind("queues").resource(), "queues.quotient.dev");
    }
}
