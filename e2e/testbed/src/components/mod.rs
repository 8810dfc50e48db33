//! The components of the control plane: what each is started with, and how one knows that it is ready.

mod api_server;
mod controller_manager;
mod etcd;
mod kwok;
mod scheduler;

use std::fmt;
use std::process::Command;

use super::binaries::Program;
use super::layout::Layout;

/// A server of the test bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// The database.
    Etcd,
    /// The API server.
    ApiServer,
    /// The controller manager.
    ControllerManager,
    /// The scheduler.
    Scheduler,
    /// The pretended kubelets.
    Kwok,
}

/// Where a component says whether it is well.
#[derive(Debug, Clone, Copy)]
pub(super) struct HealthCheck {
    pub(super) encrypted: bool,
    pub(super) port: u16,
    pub(super) path: &'static str,
}

/// Kubernetes' own PodGroups, and those that the Job controller makes.
const POD_GROUPS: &str = "--feature-gates=GenericWorkload=true,WorkloadWithJob=true";

/// What servers answer without authentication.
const OPEN_PATHS: &str = "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics";

impl Component {
    /// All of them, in the order in which they are started.
    pub const ALL: [Self; 5] =
        [Self::Etcd, Self::ApiServer, Self::ControllerManager, Self::Scheduler, Self::Kwok];

    /// Its name, also that of its log file.
    pub fn name(self) -> &'static str {
        self.program().file_name()
    }

    /// The program that it runs.
    pub fn program(self) -> Program {
        match self {
            Self::Etcd => Program::Etcd,
            Self::ApiServer => Program::ApiServer,
            Self::ControllerManager => Program::ControllerManager,
            Self::Scheduler => Program::Scheduler,
            Self::Kwok => Program::Kwok,
        }
    }

    /// Writes the files that it reads at its start.
    pub(super) fn prepare(self, layout: &Layout) -> anyhow::Result<()> {
        match self {
            Self::Etcd => Ok(()),
            Self::ApiServer => api_server::prepare(layout),
            Self::ControllerManager => controller_manager::prepare(layout),
            Self::Scheduler => scheduler::prepare(layout),
            Self::Kwok => kwok::prepare(layout),
        }
    }

    /// Its command line.
    pub(super) fn command(self, layout: &Layout) -> Command {
        let mut command = Command::new(layout.binaries.path(self.program()));
        command.current_dir(&layout.directory);
        // They live for a minute and have little: collecting garbage less often costs memory and saves a tenth of their time.
        // With 100,000 pods that would be all memory of the machine, so above a limit it is collected as often as needed.
        command.env("GOGC", "400").env("GOMEMLIMIT", "6GiB");
        let add = match self {
            Self::Etcd => etcd::arguments,
            Self::ApiServer => api_server::arguments,
            Self::ControllerManager => controller_manager::arguments,
            Self::Scheduler => scheduler::arguments,
            Self::Kwok => kwok::arguments,
        };
        add(&mut command, layout);
        command
    }

    /// How to ask whether it is ready.
    pub(super) fn health_check(self, layout: &Layout) -> HealthCheck {
        let ports = layout.ports;
        match self {
            Self::Etcd => HealthCheck { encrypted: false, port: ports.etcd, path: "/health" },
            Self::ApiServer => HealthCheck { encrypted: true, port: ports.api_server, path: "/readyz" },
            Self::ControllerManager => {
                HealthCheck { encrypted: true, port: ports.controller_manager, path: "/healthz" }
            }
            Self::Scheduler => HealthCheck { encrypted: true, port: ports.scheduler, path: "/readyz" },
            Self::Kwok => HealthCheck { encrypted: false, port: ports.kwok, path: "/healthz" },
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// `--name=value`, for values that are paths.
fn flag(name: &str, value: &std::path::Path) -> std::ffi::OsString {
    let mut flag = std::ffi::OsString::from(format!("--{name}="));
    flag.push(value);
    flag
}
