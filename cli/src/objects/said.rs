//! What an object says of itself.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::names::{MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT};

/// The resources that a quota of Quotient demands a request for.
pub(crate) const DEMANDED: [&str; 2] = ["cpu", "memory"];

/// Whether a container has no request of a demanded resource. A limit without a request counts as the request.
pub(crate) fn lacks_requests(template: &PodTemplateSpec) -> bool {
    let spec = template.spec.iter();
    let mut containers =
        spec.flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()));
    containers.any(|container| {
        let resources = container.resources.as_ref();
        let of =
            |list: Option<&BTreeMap<String, _>>, name: &str| list.is_some_and(|list| list.contains_key(name));
        DEMANDED.iter().any(|name| {
            !of(resources.and_then(|resources| resources.requests.as_ref()), name)
                && !of(resources.and_then(|resources| resources.limits.as_ref()), name)
        })
    })
}

/// Whether an eviction does not count as a failure of the Job.
pub(crate) fn ignores_evictions(job: &Job) -> bool {
    let policy = job.spec.as_ref().and_then(|spec| spec.pod_failure_policy.as_ref());
    policy.is_some_and(|policy| {
        policy.rules.iter().any(|rule| {
            let mut conditions = rule.on_pod_conditions.iter().flatten();
            rule.action == "Ignore" && conditions.any(|condition| condition.type_ == "DisruptionTarget")
        })
    })
}

/// Whether Quotient wrote an object.
pub(crate) fn is_ours(metadata: &ObjectMeta) -> bool {
    let label = metadata.labels.as_ref().and_then(|labels| labels.get(MANAGED_BY_LABEL));
    label.is_some_and(|label| label == MANAGED_BY_QUOTIENT)
}
