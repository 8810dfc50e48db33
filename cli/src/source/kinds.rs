//! The kinds that are read of a cluster: those that the operator watches, and what some commands look at besides.

use crate::objects::{ApiKind, Kind, POD_GROUPS};

/// Every kind that a decision depends on.
pub(crate) fn kinds() -> impl Iterator<Item = &'static ApiKind> {
    let of_decisions = Kind::ALL.iter().filter(|kind| !matches!(kind, Kind::PodGroup | Kind::Lease));
    of_decisions.map(|kind| kind.api()).chain(POD_GROUPS)
}

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
        let read: BTreeSet<String> = kinds().map(called).collect();
        let watched: BTreeSet<String> =
            quotient_operator::watch::KINDS.iter().map(|kind| (*kind).to_owned()).collect();
        assert_eq!(read, watched);
    }

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(Kind::Pod.api().path(Some("a")), "/api/v1/namespaces/a/pods");
        assert_eq!(Kind::Node.api().path(Some("a")), "/api/v1/nodes");
        assert_eq!(Kind::Job.api().path(None), "/apis/batch/v1/jobs");
        assert_eq!(Kind::Queue.api().resource(), "queues.quotient.dev");
    }
}
