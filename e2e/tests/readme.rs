//! The README, as a new user follows it: every step in order, on a test bed and with Helm. The log is committed.
//!
//! `UPDATE_EXPECT=1` writes the log; read the difference.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use expect_test::expect_file;
use quotient_e2e::quotient::{Stage, workspace_root};
use quotient_e2e::testbed::Options;
use quotient_e2e::testbed::cache::cache_directory;
use tokio::process::Command;

use crate::reader::{Reader, blocks, commands, tidy};

/// What the log says where a step is not done here.
const NO_ENGINE: &str =
    "(No container engine here: e2e/tests/image.rs reads the Dockerfile, and the test bed pulls no image.)\n";
const ITSELF: &str = "(This log is made by a test of `make test`.)\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_follows_it_from_the_first_command_to_the_last() -> Result<()> {
    let stage = Stage::bare(Options::default()).await?;
    stage.bed.add_node("node-1", &[("cpu", "8"), ("memory", "16Gi")]).await?;
    stage.bed.kubectl(["label", "node/node-1", "kubernetes.io/os=linux", "--overwrite"]).await?;
    let mut reader = Reader::new(&stage).await?;
    let page = std::fs::read_to_string(workspace_root().join("README.md"))?;
    let mut log = String::new();
    for (language, block) in blocks(&page) {
        // Of a block with outputs, the commands.
        let shown: String = match language.as_str() {
            "sh" => block,
            "console" => block
                .lines()
                .filter_map(|line| line.strip_prefix("$ "))
                .flat_map(|line| [line, "\n"])
                .collect(),
            other => anyhow::bail!("a block of {other:?}"),
        };
        for command in commands(&shown) {
            let printed = follow(&mut reader, &command).await.with_context(|| command.clone())?;
            let _ = write!(log, "$ {command}\n{}\n", without_times(&printed));
        }
    }
    reader.stop().await?;
    stage.bed.stop().await?;
    expect_file!["readme/log.txt"].assert_eq(&log);
    Ok(())
}

/// Does one step, and waits until the operator does what the chart says then.
async fn follow(reader: &mut Reader<'_>, command: &str) -> Result<String> {
    let ours = command.replace("REGISTRY", "registry.example.org");
    let printed = match command.split_whitespace().take(2).collect::<Vec<_>>().as_slice() {
        ["docker", _] => NO_ENGINE.to_owned(),
        ["make", "test"] => ITSELF.to_owned(),
        ["make", "demo"] => demo().await?,
        ["kubectl", "get"] => reader.settled(&ours).await?,
        ["helm", "test"] => reader.with_kubelets(&ours).await?,
        _ => reader.run(&ours).await?,
    };
    reader.follow_the_chart().await?;
    Ok(printed)
}

/// The last lines of `make demo`, which checks every share that it shows. It needs no Helm: in this cache Helm can neither be
/// found nor be built.
async fn demo() -> Result<String> {
    let cache = tempfile::tempdir()?;
    std::os::unix::fs::symlink(cache_directory()?.join("controlplane"), cache.path().join("controlplane"))?;
    std::fs::write(cache.path().join("charttools"), "not a directory")?;
    let mut make = Command::new("make");
    for (variable, _) in std::env::vars_os() {
        // Of cargo about this test, and of a make around it.
        let name = variable.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name.starts_with("MAKE") {
            make.env_remove(&variable);
        }
    }
    make.arg("demo").env("QUOTIENT_CACHE", cache.path()).current_dir(workspace_root());
    let output = make.output().await.context("running make")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let is_result =
        |line: &&str| line.starts_with("Every team has") || line.starts_with("Everything is stopped");
    Ok(said.lines().map(str::trim).filter(is_result).flat_map(|line| [line, "\n"]).collect())
}

/// The output without times, and without ages at the end of its rows.
fn without_times(printed: &str) -> String {
    let times = ["LAST DEPLOYED:", "Last Started:", "Last Completed:"];
    let mut tidied = String::new();
    for line in printed.lines() {
        if let Some(start) = times.iter().find(|start| line.starts_with(*start)) {
            let _ = writeln!(tidied, "{start} …");
            continue;
        }
        let rows = tidy(line);
        let kept = rows.first().map_or(0, Vec::len);
        let words = line.split_whitespace().count();
        // An age ends the row.
        let end = if kept < words { line.rfind(' ').unwrap_or_default() } else { line.len() };
        let _ = writeln!(tidied, "{}", line.get(..end).unwrap_or_default().trim_end());
    }
    tidied
}
