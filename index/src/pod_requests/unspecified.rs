//! The requests that a quota demands of every container and that one leaves open.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use quotient_engine::snapshot::Unspecified;

/// The resources that some container of `spec` names neither a request nor a limit for.
///
/// Quota admission demands a request of each container, init containers included, for cpu and memory alone. A limit
/// becomes the request where there is none, and a request of 0 is one. Where the pod as a whole requests something,
/// nothing is said: that depends on the version of Kubernetes.
pub(crate) fn unspecified(spec: Option<&PodSpec>) -> Unspecified {
    let Some(spec) = spec.filter(|spec| spec.resources.is_none()) else { return Unspecified::default() };
    let containers = || spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let lacks = |resource: &str| containers().any(|container| !names(container, resource));
    Unspecified { cpu: lacks("cpu"), memory: lacks("memory") }
}

fn names(container: &Container, resource: &str) -> bool {
    let Some(resources) = &container.resources else { return false };
    let in_list = |list: &Option<BTreeMap<String, Quantity>>| {
        list.as_ref().is_some_and(|list| list.contains_key(resource))
    };
    in_list(&resources.requests) || in_list(&resources.limits)
}
