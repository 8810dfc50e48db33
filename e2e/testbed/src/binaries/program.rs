//! The programs that a test bed is made of.

use std::fmt;

use super::Module;

/// A program built from one of the modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// The database.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controller manager: quotas, owners of pods, disruption budgets, garbage collection.
    ControllerManager,
    /// The scheduler.
    Scheduler,
    /// The command line client.
    Kubectl,
    /// The pretended kubelets.
    Kwok,
    /// The installer of charts.
    Helm,
}

impl Program {
    pub(super) const CONTROL_PLANE: [Self; 6] =
        [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler, Self::Kubectl, Self::Kwok];

    /// The module that it is built from.
    pub const fn module(self) -> Module {
        match self {
            Self::Etcd
            | Self::ApiServer
            | Self::ControllerManager
            | Self::Scheduler
            | Self::Kubectl
            | Self::Kwok => Module::ControlPlane,
            Self::Helm => Module::ChartTools,
        }
    }

    /// The name of the executable.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::Kwok => "kwok",
            Self::Helm => "helm",
        }
    }

    /// The Go package of its `main` function.
    pub fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::ApiServer => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::ControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
            Self::Scheduler => "k8s.io/kubernetes/cmd/kube-scheduler",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::Kwok => "sigs.k8s.io/kwok/cmd/kwok",
            Self::Helm => "helm.sh/helm/v4/cmd/helm",
        }
    }

    /// How long a build takes on two cores when Go has nothing cached, for the line of progress.
    pub(super) fn cold_build_time(self) -> &'static str {
        match self {
            Self::ApiServer => "about 4 minutes",
            Self::Etcd | Self::ControllerManager => "about 1 minute",
            Self::Scheduler => "about 10 seconds",
            Self::Kubectl => "about 30 seconds",
            Self::Kwok => "about 15 seconds",
            Self::Helm => "about 3 minutes",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.file_name())
    }
}
