//! Helm, with nothing of its own outside the test bed's directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::binaries::{Binaries, Module, Program};
use super::{TestBed, command};

/// Helm without a cluster: for what only reads charts.
#[derive(Debug, Clone)]
pub struct Helm {
    program: PathBuf,
}

impl Helm {
    /// Helm from the cache; it is built first if it is not there, which takes minutes.
    pub async fn find() -> anyhow::Result<Self> {
        Ok(Self { program: Binaries::find(Module::ChartTools).await?.path(Program::Helm) })
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
    ) -> anyhow::Result<String> {
        self.run_in(Path::new("/nonexistent"), Path::new("/dev/null"), arguments).await
    }

    async fn run_in<S: AsRef<OsStr>>(
        &self,
        home: &Path,
        kubeconfig: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> anyhow::Result<String> {
        let mut helm = Command::new(&self.program);
        helm.args(arguments).env("KUBECONFIG", kubeconfig);
        for (variable, directory) in
            [("HELM_CACHE_HOME", "cache"), ("HELM_CONFIG_HOME", "config"), ("HELM_DATA_HOME", "data")]
        {
            helm.env(variable, home.join(directory));
        }
        command::run(helm, "").await
    }
}

impl TestBed {
    /// Runs Helm with all rights on this test bed; like [`TestBed::kubectl`].
    pub async fn helm<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> anyhow::Result<String> {
        let helm = Helm::find().await?;
        helm.run_in(&self.directory().join("helm"), &self.kubeconfig_path(), arguments).await
    }
}
