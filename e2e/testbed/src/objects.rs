//! The objects that nearly every test needs, as plain values to change before they are created.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Container, Namespace, Node, NodeStatus, Pod, PodSpec, ResourceQuota, ResourceQuotaSpec,
    ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Amounts per resource, such as `[("cpu", "2"), ("memory", "4Gi")]`.
pub type Amounts<'a> = [(&'a str, &'a str)];

/// A node with these amounts as capacity and allocatable, and room for 110 pods unless it says otherwise.
pub fn node(name: &str, allocatable: &Amounts<'_>) -> Node {
    let mut amounts = quantities(allocatable);
    amounts.entry("pods".to_owned()).or_insert_with(|| Quantity("110".to_owned()));
    Node {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some([("kubernetes.io/hostname".to_owned(), name.to_owned())].into()),
            ..ObjectMeta::default()
        },
        status: Some(NodeStatus {
            capacity: Some(amounts.clone()),
            allocatable: Some(amounts),
            ..NodeStatus::default()
        }),
        ..Node::default()
    }
}

/// A namespace.
pub fn namespace(name: &str) -> Namespace {
    Namespace {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        ..Namespace::default()
    }
}

/// A pod of one container with these requests, and limits for the resources that cannot do without (all but cpu and
/// memory).
pub fn pod(namespace: &str, name: &str, requests: &Amounts<'_>) -> Pod {
    let requests = quantities(requests);
    let mut limits = requests.clone();
    limits.retain(|resource, _| resource != "cpu" && resource != "memory");
    Pod {
        metadata: metadata(namespace, name),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "main".to_owned(),
                image: Some("pause".to_owned()),
                resources: Some(ResourceRequirements {
                    requests: Some(requests),
                    limits: Some(limits),
                    ..ResourceRequirements::default()
                }),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
        ..Pod::default()
    }
}

/// A quota with these limits (`requests.cpu`, `pods`, …).
pub fn resource_quota(namespace: &str, name: &str, hard: &Amounts<'_>) -> ResourceQuota {
    ResourceQuota {
        metadata: metadata(namespace, name),
        spec: Some(ResourceQuotaSpec { hard: Some(quantities(hard)), ..ResourceQuotaSpec::default() }),
        ..ResourceQuota::default()
    }
}

/// Amounts as the API has them.
pub fn quantities(amounts: &Amounts<'_>) -> BTreeMap<String, Quantity> {
    amounts
        .iter()
        .map(|(resource, amount)| ((*resource).to_owned(), Quantity((*amount).to_owned())))
        .collect()
}

fn metadata(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta { namespace: Some(namespace.to_owned()), name: Some(name.to_owned()), ..ObjectMeta::default() }
}
