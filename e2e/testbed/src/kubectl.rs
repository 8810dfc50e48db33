//! kubectl, of the same version as the API server.

use std::ffi::OsStr;

use tokio::process::Command;

use super::binaries::Program;
use super::{TestBed, command};

impl TestBed {
    /// Runs kubectl with all rights and returns what it printed to standard output; an error with what it printed if it
    /// failed.
    pub async fn kubectl<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> anyhow::Result<String> {
        self.kubectl_with_input(arguments, "").await
    }

    /// Like [`TestBed::kubectl`], with `input` as its standard input.
    pub async fn kubectl_with_input<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &str,
    ) -> anyhow::Result<String> {
        let mut kubectl = Command::new(self.layout.binaries.path(Program::Kubectl));
        kubectl.args(arguments).env("KUBECONFIG", self.kubeconfig_path());
        // Not the cache in the home directory: there, another test bed may have had the same port.
        kubectl.env("KUBECACHEDIR", self.directory().join("kubectl-cache"));
        command::run(kubectl, input).await
    }

    /// Applies manifests (YAML or JSON, any number of documents) on the server's side, with strict validation.
    pub async fn apply(&self, manifests: &str) -> anyhow::Result<String> {
        self.kubectl_with_input(["apply", "--server-side", "--validate=strict", "-f", "-"], manifests).await
    }
}
