//! The kinds that are understood.

use quotient_crds::names::API_VERSION;

use super::pod_group::API_VERSIONS;

/// A kind of object that decisions depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Namespace,
    Node,
    Pod,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    PodDisruptionBudget,
    PriorityClass,
    Queue,
    QueueJob,
    ResourceQuota,
    LimitRange,
    HorizontalPodAutoscaler,
    PodGroup,
    Lease,
}

/// What a kind of a manifest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// One that decisions depend on.
    Known(Kind),
    /// One that no decision depends on.
    Other,
}

/// Every kind, as they are listed to users.
const ALL: [Kind; 17] = [
    Kind::Namespace,
    Kind::Node,
    Kind::Pod,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::PodDisruptionBudget,
    Kind::PriorityClass,
    Kind::Queue,
    Kind::QueueJob,
    Kind::ResourceQuota,
    Kind::LimitRange,
    Kind::HorizontalPodAutoscaler,
    Kind::PodGroup,
    Kind::Lease,
];

/// The group in which Kubernetes once served what it serves elsewhere now.
const FORMER: &str = "extensions";

impl Kind {
    /// The kind of this name in this API group and version.
    pub(super) fn find(api_version: &str, name: &str) -> Result<Found, String> {
        let Some(kind) = ALL.into_iter().find(|kind| kind.name() == name) else { return Ok(Found::Other) };
        let is_served = match kind {
            Self::PodGroup => API_VERSIONS.contains(&api_version),
            kind => kind.api_version() == api_version,
        };
        if is_served {
            return Ok(Found::Known(kind));
        }
        // Another group may have a kind of the same name, such as Queue of Volcano.
        let is_of_others = group(kind.api_version()) != group(api_version) && group(api_version) != FORMER;
        if kind == Self::PodGroup || is_of_others {
            return Ok(Found::Other);
        }
        Err(format!("apiVersion: {name} is understood in {}, not in {api_version}", kind.api_version()))
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::Node => "Node",
            Self::Pod => "Pod",
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::PodDisruptionBudget => "PodDisruptionBudget",
            Self::PriorityClass => "PriorityClass",
            Self::Queue => "Queue",
            Self::QueueJob => "QueueJob",
            Self::ResourceQuota => "ResourceQuota",
            Self::LimitRange => "LimitRange",
            Self::HorizontalPodAutoscaler => "HorizontalPodAutoscaler",
            Self::PodGroup => "PodGroup",
            Self::Lease => "Lease",
        }
    }

    pub(crate) const fn api_version(self) -> &'static str {
        match self {
            Self::Namespace | Self::Node | Self::Pod | Self::ResourceQuota | Self::LimitRange => "v1",
            Self::Deployment | Self::ReplicaSet | Self::StatefulSet | Self::DaemonSet => "apps/v1",
            Self::Job => "batch/v1",
            Self::PodDisruptionBudget => "policy/v1",
            Self::PriorityClass => "scheduling.k8s.io/v1",
            Self::HorizontalPodAutoscaler => "autoscaling/v2",
            Self::Lease => "coordination.k8s.io/v1",
            // Several groups serve it.
            Self::PodGroup => "scheduling.x-k8s.io/v1alpha1",
            Self::Queue | Self::QueueJob => API_VERSION,
        }
    }

    /// Whether its objects are in a namespace.
    pub(super) const fn is_namespaced(self) -> bool {
        !matches!(self, Self::Namespace | Self::Node | Self::PriorityClass)
    }

    /// Whether its objects create pods, themselves or through others.
    pub(super) const fn owns_pods(self) -> bool {
        matches!(
            self,
            Self::Deployment
                | Self::ReplicaSet
                | Self::StatefulSet
                | Self::DaemonSet
                | Self::Job
                | Self::QueueJob
        )
    }
}

/// The API group; empty for the core group.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
