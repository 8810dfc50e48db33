//! kubectl, of the same version as the API server.

use std::ffi::OsStr;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::binaries::Program;
use super::{TestBed, TestBedError};

impl TestBed {
    /// Runs kubectl with all rights and returns what it printed to standard output; an error with what it printed to
    /// standard error if it failed.
    pub async fn kubectl<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, TestBedError> {
        self.kubectl_with_input(arguments, "").await
    }

    /// Like [`TestBed::kubectl`], with `input` as its standard input.
    pub async fn kubectl_with_input<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &str,
    ) -> Result<String, TestBedError> {
        let mut command = Command::new(self.layout.binaries.path(Program::Kubectl));
        command
            .args(arguments)
            .env("KUBECONFIG", self.kubeconfig_path())
            // Not the cache in the home directory: there, another test bed may have had the same port.
            .env("KUBECACHEDIR", self.directory().join("kubectl-cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let described: Vec<_> = command.as_std().get_args().map(OsStr::to_string_lossy).collect();
        let described = described.join(" ");
        let failed = |status: String, output: String| TestBedError::Kubectl {
            arguments: described.clone(),
            status,
            output,
        };
        let not_run = |error: std::io::Error| failed(error.to_string(), String::new());

        let mut child = command.spawn().map_err(not_run)?;
        if let Some(mut stdin) = child.stdin.take() {
            // kubectl may end without reading it all; its exit status tells more than a broken pipe.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        let output = child.wait_with_output().await.map_err(not_run)?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(failed(output.status.to_string(), said))
        }
    }

    /// Applies manifests (YAML or JSON, any number of documents) on the server's side, with strict validation.
    pub async fn apply(&self, manifests: &str) -> Result<String, TestBedError> {
        self.kubectl_with_input(["apply", "--server-side", "--validate=strict", "-f", "-"], manifests).await
    }
}
