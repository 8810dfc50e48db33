//! The tutorials on a cluster: every command of a page is run, and prints what the page says.
//!
//! `UPDATE_EXPECT=1` writes what commands print, and the manifests, into the pages; read the difference.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::quotient::{
    ON_INFRA_NODE, Operator, Programs, Stage, add_infra_node, build_program, helm_arguments, workspace_root,
};
use quotient_e2e::testbed::Options;
use tokio::process::Command;

use crate::reader::{Reader, shell_blocks, tidy};

const FIRST_SHARE: &str = "docs/tutorials/first-share.md";
const GATE: &str = "docs/tutorials/gate.md";

/// How long an evicted pod takes to end by itself: until the page waits for something, however slow the machine is.
const TERMINATION: Duration = Duration::from_secs(3600);

/// The cluster that the pages are about.
async fn cluster() -> Result<Stage> {
    let stage = Stage::bare(Options { termination_delay: TERMINATION, ..Options::default() }).await?;
    stage.bed.add_node("node-1", &[("cpu", "8"), ("memory", "16Gi")]).await?;
    Ok(stage)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_says_what_happens() -> Result<()> {
    let stage = cluster().await?;
    let often = ["--status-interval-seconds", "1"];
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &often).await?;
    let mut reader = Reader::new(&stage).await?;
    play_page(FIRST_SHARE, &mut reader).await?;
    operator.stop().await?;
    stage.bed.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_about_gate_mode_says_what_happens() -> Result<()> {
    let stage = cluster().await?;
    // Another node for the operator's own pod, so that the numbers are those of the page.
    add_infra_node(&stage.bed).await?;
    let values = [&ON_INFRA_NODE[..], &["config.mode=Full", "config.statusIntervalSeconds=1"]].concat();
    stage.bed.helm(helm_arguments(&["install", "--create-namespace", "--wait"], &values)).await?;
    let mut reader = Reader::new(&stage).await?;
    reader.follow_the_chart().await?;
    play_page(GATE, &mut reader).await?;
    reader.stop().await?;
    stage.bed.stop().await
}

/// Plays a page and compares, or writes, what it shows.
async fn play_page(path: &str, reader: &mut Reader<'_>) -> Result<()> {
    let file = workspace_root().join(path);
    let page = fs::read_to_string(&file)?;
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut written = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(written, "{line}");
        if let Some(manifest) = line.strip_prefix("```yaml ") {
            let shown = block(&mut lines);
            let manifest = fs::read_to_string(workspace_root().join(manifest))?;
            ensure!(updates || shown == manifest, "{path} shows a manifest otherwise than it is:\n{shown}");
            written.push_str(&manifest);
            written.push_str("```\n");
        } else if line == "```console" {
            for (command, expected) in commands(&block(&mut lines)) {
                let printed = play(reader, &command, (!updates).then_some(expected.as_str())).await?;
                reader.follow_the_chart().await?;
                let _ = write!(written, "$ {command}\n{printed}");
            }
            written.push_str("```\n");
        }
    }
    if updates {
        fs::write(&file, written)?;
    }
    Ok(())
}

/// A reader without a cluster gets, by the page's own commands, the one that the page is played on.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_without_a_cluster_gets_one_by_the_commands_of_the_page() -> Result<()> {
    let programs = Programs::build().await?;
    let page = fs::read_to_string(workspace_root().join(FIRST_SHARE))?;
    let mut blocks = shell_blocks(&page).into_iter();
    let (start, install) = blocks.next().zip(blocks.next()).context("the page starts no cluster")?;
    let start = start.lines().find_map(|line| line.strip_prefix("cargo run --bin testbed -- "));
    let arguments = start.and_then(|line| line.strip_suffix(" bash")).context("the page runs no shell")?;
    // Elsewhere, because others may listen there.
    let operator =
        format!("{} --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0", programs.operator.display());
    let install = install.replace("cargo run --quiet --bin quotient-operator --", &operator);
    ensure!(install.contains(&operator) && install.trim_end().ends_with('&'), "{install}");
    let script = format!(
        "set -e\n{install}\noperator=$!\ntrap 'kill $operator' EXIT\n\
         kubectl wait --for=condition=Established crd/queues.quotient.dev --timeout=60s\n\
         kubectl apply -f docs/tutorials/first-share/queues.yaml\n\
         kubectl wait -n team-a queues.quotient.dev/team-a --for=jsonpath='{{.status.nominal.cpu}}'=4 --timeout=60s\n\
         kubectl wait -n team-a queues.quotient.dev/team-a --for=jsonpath='{{.status.nominal.memory}}'=8Gi --timeout=60s"
    );
    let output = Command::new(build_program("testbed").await?)
        .args(arguments.split_whitespace())
        .args(["sh", "-c", &script])
        .current_dir(workspace_root())
        .output()
        .await
        .context("running the test bed")?;
    let printed = [output.stdout, output.stderr].concat();
    ensure!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&printed));
    Ok(())
}

/// The lines up to the end of a block.
fn block<'a>(lines: &mut impl Iterator<Item = &'a str>) -> String {
    lines.take_while(|line| *line != "```").fold(String::new(), |block, line| block + line + "\n")
}

/// Each command with what is to be printed.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else if let Some((_, expected)) = commands.last_mut() {
            let _ = writeln!(expected, "{line}");
        }
    }
    commands
}

/// Runs a command: once if it changes something, otherwise until it prints what is expected, or always the same.
async fn play(reader: &Reader<'_>, command: &str, expected: Option<&str>) -> Result<String> {
    if command.starts_with("kubectl wait ") {
        return reader.letting_pods_end(repeated(reader, command, expected)).await;
    }
    repeated(reader, command, expected).await
}

async fn repeated(reader: &Reader<'_>, command: &str, expected: Option<&str>) -> Result<String> {
    let reads = ["kubectl get ", "kubectl wait "].iter().any(|start| command.starts_with(start));
    match expected {
        Some(expected) if reads => reader.until(command, expected).await,
        Some(expected) => {
            let printed = reader.run(command).await?;
            ensure!(
                tidy(&printed) == tidy(expected),
                "`{command}` prints\n{printed}\nthe page says\n{expected}"
            );
            Ok(printed)
        }
        None if reads => reader.settled(command).await,
        None => reader.run(command).await,
    }
}
