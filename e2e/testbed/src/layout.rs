//! What the components of one test bed have to know of each other: where everything is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::Options;
use super::binaries::Binaries;
use super::components::Component;
use super::kubeconfig;
use super::pki::{Authority, CertificateFiles};
use super::ports::Ports;

/// The group whose members may do everything.
pub(super) const MASTERS: &str = "system:masters";
/// The user that tests act as.
pub const ADMIN: &str = "testbed-admin";
/// How often quotas are counted anew unless a test wants it otherwise.
const RECOUNTS: Duration = Duration::from_secs(15);

/// Programs, ports and files of one test bed. Made once, before the first process: a component that is started
/// again gets what it got the first time.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) binaries: Binaries,
    pub(super) ports: Ports,
    pub(super) directory: PathBuf,
    pub(super) authority: Authority,
    pub(super) server_certificate: CertificateFiles,
    /// The key that signs tokens of service accounts, and the one that checks them.
    pub(super) service_account_keys: (PathBuf, PathBuf),
    pub(super) termination_delay: Duration,
    pub(super) audit_bodies: bool,
    pub(super) recounts: Duration,
    pub(super) pod_groups: bool,
}

impl Layout {
    /// Makes certificates and kubeconfigs and writes the components' configuration files.
    pub(super) fn prepare(binaries: Binaries, directory: &Path, options: &Options) -> anyhow::Result<Self> {
        let ports = Ports::free()?;
        let authority = Authority::create(&directory.join("pki"))?;
        let server_certificate = authority.server(&[
            "127.0.0.1",
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "10.0.0.1",
        ])?;
        let service_account_keys = authority.service_account_keys()?;
        let layout = Self {
            binaries,
            ports,
            directory: directory.to_owned(),
            authority,
            server_certificate,
            service_account_keys,
            termination_delay: options.termination_delay,
            audit_bodies: options.audit_bodies,
            recounts: options.recounts.unwrap_or(RECOUNTS),
            pod_groups: options.pod_groups,
        };
        layout.user_kubeconfig(&layout.admin_kubeconfig(), ADMIN, Some(MASTERS))?;
        for component in Component::ALL {
            component.prepare(&layout)?;
        }
        Ok(layout)
    }

    /// Writes the kubeconfig of a user with a certificate of its own.
    pub(super) fn user_kubeconfig(&self, path: &Path, user: &str, group: Option<&str>) -> anyhow::Result<()> {
        let files = self.authority.client(user, group)?;
        let proof = json!({"client-certificate": files.certificate, "client-key": files.key});
        self.write_kubeconfig(path, user, &proof)
    }

    /// Writes the kubeconfig of a user with these credentials.
    pub(super) fn write_kubeconfig(&self, path: &Path, user: &str, proof: &Value) -> anyhow::Result<()> {
        let cluster = json!({"server": self.server(), "certificate-authority": self.authority.certificate()});
        kubeconfig::write(path, &cluster, user, proof)
    }

    /// Writes a configuration file and returns its path.
    pub(super) fn write_config(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.config(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// The URL of the API server.
    pub(super) fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.api_server)
    }

    pub(super) fn admin_kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    pub(super) fn kubeconfig(&self, name: &str) -> PathBuf {
        self.directory.join("kubeconfigs").join(name)
    }

    pub(super) fn config(&self, name: &str) -> PathBuf {
        self.directory.join("config").join(name)
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.directory.join("logs")
    }

    pub(super) fn pids(&self) -> PathBuf {
        self.directory.join("pids")
    }

    /// The data of etcd: worth nothing once the test bed is gone.
    pub(super) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    pub(super) fn audit_log(&self) -> PathBuf {
        self.logs().join("audit.log")
    }
}
