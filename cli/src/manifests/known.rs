//! The kinds that are understood.

use quotient_crds::names::API_VERSION;

/// A kind of object that `simulate` understands.
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
}

/// Every kind, as they are listed to users.
const ALL: [Kind; 13] = [
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
];

impl Kind {
    /// The kind of this name in this API group and version.
    pub(super) fn find(api_version: &str, name: &str) -> Result<Self, String> {
        let found = ALL.into_iter().find(|kind| kind.name() == name);
        match found {
            Some(kind) if kind.api_version() == api_version => Ok(kind),
            Some(kind) => Err(format!(
                "apiVersion: {name} is understood in {}, not in {api_version}",
                kind.api_version()
            )),
            None => {
                let names: Vec<&str> = ALL.iter().map(|kind| kind.name()).collect();
                Err(format!("kind: {name} is not understood; what is: {}", names.join(", ")))
            }
        }
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
        }
    }

    pub(crate) const fn api_version(self) -> &'static str {
        match self {
            Self::Namespace | Self::Node | Self::Pod | Self::ResourceQuota => "v1",
            Self::Deployment | Self::ReplicaSet | Self::StatefulSet | Self::DaemonSet => "apps/v1",
            Self::Job => "batch/v1",
            Self::PodDisruptionBudget => "policy/v1",
            Self::PriorityClass => "scheduling.k8s.io/v1",
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
