//! `testbed run`.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use anyhow::Context as _;
use quotient_testbed::process::{Signal, send_signal};
use quotient_testbed::{Options, TestBed};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::nodes::Nodes;

/// Starts a test bed, runs a command with KUBECONFIG set and kubectl in its PATH, ends the test bed and passes on the
/// command's exit status.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  testbed run -- kubectl version\n  testbed run --nodes 2 -- make e2e")]
pub(crate) struct Run {
    #[command(flatten)]
    nodes: Nodes,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Run {
    #[tokio::main]
    pub(crate) async fn execute(&self) -> anyhow::Result<ExitCode> {
        // From the beginning, so that a Ctrl-C goes to the command and lets us end the test bed in order.
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        let start = async {
            let termination_delay = self.nodes.termination_delay();
            let bed = TestBed::start(Options { termination_delay, ..Options::default() }).await?;
            self.nodes.add_to(&bed).await?;
            anyhow::Ok(bed)
        };
        let bed = tokio::select! {
            bed = start => bed?,
            _ = interrupted.recv() => return Ok(ExitCode::from(130)),
            _ = terminated.recv() => return Ok(ExitCode::from(143)),
        };
        let mut child = self.spawn(&bed)?;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status.context("waiting for the command")?,
                // A terminal sends it to the command as well.
                _ = interrupted.recv() => {}
                _ = terminated.recv() => forward(&child, Signal::TERM),
            }
        };
        if status.success() {
            bed.stop().await?;
        }
        Ok(exit_code(status))
    }

    fn spawn(&self, bed: &TestBed) -> anyhow::Result<Child> {
        let (program, arguments) = self.command.split_first().context("there is no command to run")?;
        let mut path = OsString::from(bed.programs_directory());
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        Command::new(program)
            .args(arguments)
            .env("KUBECONFIG", bed.kubeconfig_path())
            .env("KUBECACHEDIR", bed.directory().join("kubectl-cache"))
            .env("PATH", path)
            .spawn()
            .with_context(|| format!("running {}", program.display()))
    }
}

fn forward(child: &Child, signal: Signal) {
    if let Some(pid) = child.id() {
        // If it has ended in the meantime, `wait` says so next.
        let _ = send_signal(pid, signal);
    }
}

/// The exit status as a shell reports it: 128 and the number of the signal for a command that was killed.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal()?.checked_add(128));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
