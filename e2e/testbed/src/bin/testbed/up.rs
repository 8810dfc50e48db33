//! `testbed up`.

use std::process::ExitCode;

use quotient_testbed::{Options, TestBed};
use tokio::signal::unix::{SignalKind, signal};

use crate::nodes::Nodes;

/// Starts a test bed and keeps it up until Ctrl-C or `testbed down`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  testbed up --nodes 3\n  testbed up --name gpus --nodes 2 --node-size cpu=32,memory=256Gi,nvidia.com/gpu=8 &"
)]
pub(crate) struct Up {
    /// What it is called.
    #[arg(long, default_value = "default")]
    name: String,
    #[command(flatten)]
    nodes: Nodes,
}

impl Up {
    #[tokio::main]
    pub(crate) async fn execute(&self) -> anyhow::Result<ExitCode> {
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        let mut hung_up = signal(SignalKind::hangup())?;
        let asked_to_end = async {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
                _ = hung_up.recv() => {}
            }
        };
        let up = async {
            let bed = TestBed::start(Options {
                name: Some(self.name.clone()),
                termination_delay: self.nodes.termination_delay(),
                ..Options::default()
            })
            .await?;
            self.nodes.add_to(&bed).await?;
            crate::print(&greeting(&bed))?;
            anyhow::Ok(bed)
        };
        tokio::pin!(asked_to_end);
        let bed = tokio::select! {
            bed = up => bed?,
            () = &mut asked_to_end => return Ok(ExitCode::FAILURE),
        };
        asked_to_end.await;
        bed.stop().await?;
        Ok(ExitCode::SUCCESS)
    }
}

fn greeting(bed: &TestBed) -> String {
    format!(
        "The test bed {name:?} is running: Kubernetes {version} at {server}\n\
         \x20 export KUBECONFIG={kubeconfig}\n\
         \x20 testbed kubectl --name {name} get nodes\n\
         \x20 logs and audit log: {logs}\n\
         Ctrl-C ends it, or `testbed down --name {name}`.",
        name = bed.name(),
        version = bed.version(),
        server = bed.server(),
        kubeconfig = bed.kubeconfig_path().display(),
        logs = bed.logs_directory().display(),
    )
}
