//! Helm, with nothing of its own outside the test bed's directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use super::binaries::{Binaries, Module, Program};
use super::cache::cache_directory;
use super::{TestBed, TestBedError};

/// Helm without a cluster: for what only reads charts.
#[derive(Debug, Clone)]
pub struct Helm {
    program: PathBuf,
}

impl Helm {
    /// Helm from the cache; it is built first if it is not there, which takes minutes.
    pub async fn find() -> Result<Self, TestBedError> {
        let cache = cache_directory()?;
        let built = tokio::task::spawn_blocking(move || Binaries::ensure(&cache, Module::ChartTools)).await;
        let action = "building Helm";
        let binaries =
            built.map_err(|error| TestBedError::Thread { action, reason: error.to_string() })??;
        Ok(Self { program: binaries.path(Program::Helm) })
    }

    /// The program, for a script that runs it.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Runs Helm without a cluster and returns what it printed to standard output; an error with what it printed to
    /// standard error if it failed.
    pub async fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, TestBedError> {
        self.run_in(Path::new("/nonexistent"), Path::new("/dev/null"), arguments).await
    }

    async fn run_in<S: AsRef<OsStr>>(
        &self,
        home: &Path,
        kubeconfig: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, TestBedError> {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .env("HELM_CACHE_HOME", home.join("cache"))
            .env("HELM_CONFIG_HOME", home.join("config"))
            .env("HELM_DATA_HOME", home.join("data"))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let described: Vec<_> = command.as_std().get_args().map(OsStr::to_string_lossy).collect();
        let described = described.join(" ");
        let failed = |status: String, output: String| TestBedError::Helm {
            arguments: described.clone(),
            status,
            output,
        };
        let output = command.output().await.map_err(|error| failed(error.to_string(), String::new()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        // `helm lint` says on standard output what is wrong.
        let said = [output.stdout, output.stderr].concat();
        Err(failed(output.status.to_string(), String::from_utf8_lossy(&said).trim().to_owned()))
    }
}

impl TestBed {
    /// Runs Helm with all rights on this test bed; like [`TestBed::kubectl`].
    pub async fn helm<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, TestBedError> {
        let helm = Helm::find().await?;
        helm.run_in(&self.directory().join("helm"), &self.kubeconfig_path(), arguments).await
    }
}
