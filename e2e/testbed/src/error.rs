//! What can go wrong with a test bed.

use std::path::PathBuf;

use super::binaries::BuildError;
use super::cache::CacheError;
use super::components::Component;
use super::kubeconfig::KubeconfigError;
use super::pki::PkiError;
use super::ports::PortError;
use super::process::ProcessError;
use super::run_directory::RunDirectoryError;
use super::wait::WaitError;

/// What can go wrong with a test bed.
#[derive(Debug, thiserror::Error)]
pub enum TestBedError {
    /// The system is not Linux.
    #[error("starting a test bed: it needs Linux (process groups, signals, /bin/sh), and this is {system}")]
    System {
        /// The name of the system.
        system: &'static str,
    },
    /// There is no cache directory.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The programs of the control plane could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// There is no directory for the run.
    #[error(transparent)]
    RunDirectory(#[from] RunDirectoryError),
    /// There are no certificates.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// There are no ports.
    #[error(transparent)]
    Ports(#[from] PortError),
    /// A kubeconfig could not be written.
    #[error(transparent)]
    WriteKubeconfig(#[from] KubeconfigError),
    /// A configuration file could not be written.
    #[error("writing the configuration file {path}: {source}", path = path.display())]
    WriteConfig {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A process could not be started or did not stay.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Something did not happen in time.
    #[error(transparent)]
    Wait(#[from] WaitError),
    /// No client could be made from a kubeconfig.
    #[error("making a client from {path}: {reason}", path = path.display())]
    Client {
        /// The kubeconfig.
        path: PathBuf,
        /// What the library said.
        reason: String,
    },
    /// The API server is of another version than the one that is pinned.
    #[error("checking the version of the API server: it says {found}, but {expected} is pinned")]
    Version {
        /// What `/version` says.
        found: String,
        /// What `controlplane/go.mod` says.
        expected: &'static str,
    },
    /// The API server refused.
    #[error("{action}: {source}")]
    Api {
        /// What was attempted, and on which object.
        action: String,
        /// What the API server or the client said.
        source: Box<kube::Error>,
    },
    /// A component was asked for that is not running.
    #[error("{action} {component}: it is not running")]
    NotRunning {
        /// What was attempted.
        action: &'static str,
        /// The component.
        component: Component,
    },
    /// kubectl failed.
    #[error("running kubectl {arguments}: {status}: {output}")]
    Kubectl {
        /// Its arguments.
        arguments: String,
        /// How it ended.
        status: String,
        /// What it printed to standard error.
        output: String,
    },
    /// Helm failed.
    #[error("running helm {arguments}: {status}: {output}")]
    Helm {
        /// Its arguments.
        arguments: String,
        /// How it ended.
        status: String,
        /// What it printed.
        output: String,
    },
    /// A backup could not be made or restored.
    #[error("{action}: {reason}")]
    Backup {
        /// What was attempted.
        action: &'static str,
        /// What the system or etcd said.
        reason: String,
    },
    /// No proxy could be started.
    #[error("starting a proxy for {user}: {source}")]
    Proxy {
        /// Its client.
        user: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The audit log could not be read.
    #[error("reading the audit log {path}: {reason}", path = path.display())]
    Audit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Blocking work did not come to its end.
    #[error("{action}: the thread that did it ended early: {reason}")]
    Thread {
        /// What was attempted.
        action: &'static str,
        /// What the runtime said.
        reason: String,
    },
}

impl TestBedError {
    /// An answer of the API server to `action`.
    pub(super) fn api(action: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let action = action.into();
        move |source| Self::Api { action, source: Box::new(source) }
    }

    /// What the system said to `action`.
    pub(super) fn backup(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self::Backup { action, reason: error.to_string() }
    }

    /// Whether a server of the test bed found its port taken.
    pub(super) fn is_port_collision(&self) -> bool {
        matches!(self, Self::Process(ProcessError::Ended { tail, .. }) if tail.contains("address already in use"))
    }
}
