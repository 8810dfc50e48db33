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
    /// What reads rules and metrics as Prometheus does.
    Promtool,
    /// The collector of metrics.
    Prometheus,
}

impl Program {
    pub(super) const CONTROL_PLANE: [Self; 6] =
        [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler, Self::Kubectl, Self::Kwok];

    /// The module that it is built from.
    pub const fn module(self) -> Module {
        match self {
            Self::Helm => Module::ChartTools,
            Self::Promtool | Self::Prometheus => Module::Prometheus,
            _ => Module::ControlPlane,
        }
    }

    /// Its executable, the Go package of its `main` function, and how long a build takes on two cores when Go has nothing
    /// cached.
    const fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Etcd => ("etcd", "go.etcd.io/etcd/server/v3", "about 1 minute"),
            Self::ApiServer => ("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", "about 4 minutes"),
            Self::ControllerManager => {
                ("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", "about 1 minute")
            }
            Self::Scheduler => ("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", "about 10 seconds"),
            Self::Kubectl => ("kubectl", "k8s.io/kubernetes/cmd/kubectl", "about 30 seconds"),
            Self::Kwok => ("kwok", "sigs.k8s.io/kwok/cmd/kwok", "about 15 seconds"),
            Self::Helm => ("helm", "helm.sh/helm/v4/cmd/helm", "about 3 minutes"),
            Self::Promtool => {
                ("promtool", "github.com/prometheus/prometheus/cmd/promtool", "about 80 seconds")
            }
            Self::Prometheus => {
                ("prometheus", "github.com/prometheus/prometheus/cmd/prometheus", "about 50 seconds")
            }
        }
    }

    /// The name of the executable.
    pub const fn file_name(self) -> &'static str {
        self.facts().0
    }

    /// The Go package of its `main` function.
    pub const fn package(self) -> &'static str {
        self.facts().1
    }

    /// How long a build takes, for the line of progress.
    pub(super) const fn cold_build_time(self) -> &'static str {
        self.facts().2
    }
}

impl fmt::Display for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.file_name())
    }
}
