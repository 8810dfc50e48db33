//! `testbed kubectl`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use quotient_testbed::binaries::{Binaries, Module, Program};
use quotient_testbed::cache::cache_directory;

use crate::running;

/// Runs kubectl against a running test bed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  testbed kubectl get pods --all-namespaces\n  testbed kubectl --name two get nodes"
)]
pub(crate) struct Kubectl {
    /// The test bed; not needed while only one is running. Comes before kubectl's own arguments.
    #[arg(long)]
    name: Option<String>,
    /// kubectl's arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Kubectl {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        let bed = running::find(self.name.as_deref())?;
        let program = Binaries::ensure(&cache_directory()?, Module::ControlPlane)?.path(Program::Kubectl);
        let error = Command::new(&program)
            .args(&self.arguments)
            .env("KUBECONFIG", bed.directory.join("kubeconfig"))
            .env("KUBECACHEDIR", bed.directory.join("kubectl-cache"))
            .exec();
        Err(error).with_context(|| format!("running {}", program.display()))
    }
}
