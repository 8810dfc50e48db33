//! How long a person waits for an answer of the command line on the same cluster.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use super::ClusterSize;
use super::pods::{namespace_of, pod};
use crate::demo::Narrator;
use crate::quotient::Stage;

/// How often each command is run; the time in the middle counts.
const RUNS: usize = 5;

/// From the start of the process to its end.
#[derive(Clone, Copy, Debug)]
pub struct Commands {
    /// `status -A`.
    pub status: Duration,
    /// `explain` of a pod.
    pub explain: Duration,
    /// `diff` of another weight, against the cluster.
    pub diff: Duration,
    /// The same against a snapshot of it.
    pub diff_of_snapshot: Duration,
}

impl Commands {
    /// Measures the commands.
    pub(super) async fn measure(
        stage: &Stage,
        size: ClusterSize,
        narrator: &Narrator,
    ) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let (namespace, file) = (namespace_of(0), stage.bed.directory().join("cluster.json.gz"));
        let file = file.to_str().context("a path of characters")?;
        let name = pod(size, 0).metadata.name.unwrap_or_default();
        let change = format!("queue/{namespace}.weight=3");
        run(stage, &["snapshot", "-o", file]).await?;
        let commands = Self {
            status: usual(stage, &["status", "-A"]).await?,
            explain: usual(stage, &["explain", &format!("pod/{name}"), "-n", &namespace]).await?,
            diff: usual(stage, &["diff", "--set", &change]).await?,
            diff_of_snapshot: usual(stage, &["diff", "--snapshot", file, "--set", &change]).await?,
        };
        narrator.done("the command line has answered", begun);
        Ok(commands)
    }
}

/// The time in the middle of some runs.
async fn usual(stage: &Stage, arguments: &[&str]) -> anyhow::Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        times.push(run(stage, arguments).await?);
    }
    times.sort_unstable();
    times.get(RUNS / 2).copied().context("a time")
}

async fn run(stage: &Stage, arguments: &[&str]) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let output = stage.command_line(arguments).await?;
    let took = begun.elapsed();
    // 1 is a finding.
    let is_answered = output.status.code().is_some_and(|code| code <= 1);
    ensure!(is_answered, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(took)
}
