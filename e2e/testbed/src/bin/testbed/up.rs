//! `testbed up`.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use quotient_testbed::binaries::{Binaries, Module};
use quotient_testbed::cache::cache_directory;
use quotient_testbed::run_directory::{RunningTestBed, all_directories};
use quotient_testbed::{Options, TestBed};
use tokio::signal::unix::{SignalKind, signal};

use crate::nodes::Nodes;

/// Starts a test bed and keeps it up until Ctrl-C, or in the background until `testbed down`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  testbed up --nodes 3\n  testbed up --name gpus --nodes 2 --node-size cpu=32,memory=256Gi,nvidia.com/gpu=8 --detach"
)]
pub(crate) struct Up {
    /// What it is called.
    #[arg(long, default_value = "default")]
    name: String,
    /// Return as soon as it is ready, and leave it running.
    #[arg(long)]
    detach: bool,
    /// Keep its directory with the logs when it ends.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    nodes: Nodes,
}

/// The file that says that a test bed is ready, in its directory. It holds what `up` prints.
const READY: &str = "ready";

impl Up {
    pub(crate) fn execute(&self) -> anyhow::Result<ExitCode> {
        if self.detach { self.in_background() } else { self.in_foreground() }
    }

    #[tokio::main]
    async fn in_foreground(&self) -> anyhow::Result<ExitCode> {
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
                keep: self.keep,
                ..Options::default()
            })
            .await?;
            self.nodes.add_to(&bed).await?;
            let greeting = greeting(&bed);
            crate::print(&format!("{greeting}\nCtrl-C ends it."))?;
            publish(&bed.directory().join(READY), &greeting)?;
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

    /// Runs this program once more, as the owner in the background, and waits until it says that it is ready.
    fn in_background(&self) -> anyhow::Result<ExitCode> {
        let cache = cache_directory()?;
        // Here, where the progress can be seen.
        Binaries::ensure(&cache, Module::ControlPlane)?;
        let all = all_directories(&cache);
        // Of this attempt alone: a test bed of that name may be running.
        let log_path = all.join(format!("{}-{}.log", self.name, std::process::id()));
        let log = create(&all, &log_path)?;
        let mut owner = Command::new(std::env::current_exe().context("finding this program")?)
            .args(["up", "--name", &self.name])
            .args(["--nodes", &self.nodes.count.to_string(), "--node-size", &self.nodes.node_size])
            .args(["--termination-delay", &self.nodes.termination_delay.to_string()])
            .args(self.keep.then_some("--keep"))
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Out of reach of a Ctrl-C in this terminal.
            .process_group(0)
            .spawn()
            .context("starting the owner of the test bed")?;
        let outcome = self.wait_until_ready(&all.join(&self.name), &mut owner, &log_path);
        let _ = std::fs::remove_file(&log_path);
        outcome
    }

    fn wait_until_ready(&self, directory: &Path, owner: &mut Child, log: &Path) -> anyhow::Result<ExitCode> {
        loop {
            if let Some(status) = owner.try_wait()? {
                let log = std::fs::read_to_string(log).unwrap_or_default();
                bail!(
                    "the test bed did not start ({status}): {}",
                    log.trim_start_matches("testbed: ").trim_end()
                );
            }
            // Another test bed of that name may be running, and ready.
            if RunningTestBed::at(directory).is_some_and(|bed| bed.owner == owner.id())
                && let Ok(greeting) = std::fs::read_to_string(directory.join(READY))
            {
                crate::print(&format!("{greeting}\n`testbed down --name {}` ends it.", self.name))?;
                return Ok(ExitCode::SUCCESS);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn create(all: &Path, log: &Path) -> anyhow::Result<File> {
    std::fs::create_dir_all(all)
        .and_then(|()| File::create(log))
        .with_context(|| format!("writing {}", log.display()))
}

/// Writes a file for which another process waits: it is there as a whole or not at all.
fn publish(path: &Path, text: &str) -> anyhow::Result<()> {
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, text)
        .and_then(|()| std::fs::rename(&unfinished, path))
        .with_context(|| format!("writing {}", path.display()))
}

fn greeting(bed: &TestBed) -> String {
    let (kubeconfig, logs): (PathBuf, PathBuf) = (bed.kubeconfig_path(), bed.logs_directory());
    format!(
        "The test bed {name:?} is running: Kubernetes {version} at {server}\n\
         \x20 export KUBECONFIG={kubeconfig}\n\
         \x20 testbed kubectl --name {name} get nodes\n\
         \x20 logs and audit log: {logs}",
        name = bed.name(),
        version = bed.version(),
        server = bed.server(),
        kubeconfig = kubeconfig.display(),
        logs = logs.display(),
    )
}
