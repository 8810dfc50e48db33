//! The tutorial: every command on the page is run, and prints what the page says.
//!
//! `UPDATE_EXPECT=1` writes what commands print, and the manifests, into the page; read the difference.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams};
use kube::{Api, ResourceExt as _};
use quotient_e2e::quotient::{Operator, PATIENCE, Programs, build_testbed, workspace_root};
use quotient_e2e::testbed::{Options, TestBed, eventually};
use tokio::process::Command;

const PAGE: &str = "docs/tutorials/first-share.md";

/// How long an evicted pod takes to go if nobody lets it: until the page waits for something, however slow the machine is.
const TERMINATION: Duration = Duration::from_secs(3600);

/// What is printed has settled when it has not changed for so long.
const SETTLED: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn the_page_says_what_happens() -> anyhow::Result<()> {
    let programs = Programs::build().await?;
    let bed = TestBed::start(Options { termination_delay: TERMINATION, ..Options::default() }).await?;
    bed.add_node("node-1", &[("cpu", "8"), ("memory", "16Gi")]).await?;
    let operator =
        Operator::start_with(&bed, &programs.operator, &["--status-interval-seconds", "1"]).await?;
    let file = workspace_root().join(PAGE);
    let page = fs::read_to_string(&file)?;
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut written = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(written, "{line}");
        if let Some(path) = line.strip_prefix("```yaml ") {
            let shown = block(&mut lines);
            let manifest = fs::read_to_string(workspace_root().join(path))?;
            ensure!(updates || shown == manifest, "{PAGE} shows {path} otherwise than it is");
            written.push_str(&manifest);
            written.push_str("```\n");
        } else if line == "```console" {
            for (command, expected) in commands(&block(&mut lines)) {
                let printed = play(&bed, &command, (!updates).then_some(expected.as_str())).await?;
                let _ = write!(written, "$ {command}\n{printed}");
            }
            written.push_str("```\n");
        }
    }
    if updates {
        fs::write(&file, written)?;
    }
    operator.stop().await?;
    Ok(bed.stop().await?)
}

/// A reader without a cluster gets, by the page's own commands, the one that the page is played on.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_without_a_cluster_gets_one_by_the_commands_of_the_page() -> anyhow::Result<()> {
    let programs = Programs::build().await?;
    let page = fs::read_to_string(workspace_root().join(PAGE))?;
    let mut blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let (start, install) = blocks.next().zip(blocks.next()).context("the page starts no cluster")?;
    let start = start.lines().find_map(|line| line.strip_prefix("cargo run --bin testbed -- "));
    let arguments = start.and_then(|line| line.strip_suffix(" bash")).context("the page runs no shell")?;
    // Elsewhere, because others may listen there.
    let operator =
        format!("{} --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0", programs.operator.display());
    let install = install.replace("cargo run --quiet --bin quotient-operator --", &operator);
    ensure!(install.contains(&operator) && install.ends_with('&'), "{install}");
    let script = format!(
        "set -e\n{install}\noperator=$!\ntrap 'kill $operator' EXIT\n\
         kubectl wait --for=condition=Established crd/queues.quotient.dev --timeout=60s\n\
         kubectl apply -f docs/tutorials/first-share/queues.yaml\n\
         kubectl wait -n team-a queues.quotient.dev/team-a --for=jsonpath='{{.status.nominal.cpu}}'=4 --timeout=60s\n\
         kubectl wait -n team-a queues.quotient.dev/team-a --for=jsonpath='{{.status.nominal.memory}}'=8Gi --timeout=60s"
    );
    let output = Command::new(build_testbed().await?)
        .args(arguments.split_whitespace())
        .args(["sh", "-c", &script])
        .current_dir(workspace_root())
        .output()
        .await
        .context("running the test bed")?;
    let told = [output.stdout, output.stderr].concat();
    ensure!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&told));
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
async fn play(bed: &TestBed, command: &str, expected: Option<&str>) -> anyhow::Result<String> {
    if command.starts_with("kubectl wait ") {
        return tokio::select! {
            printed = repeated(bed, command, expected) => printed,
            failed = let_go(bed) => Err(failed),
        };
    }
    repeated(bed, command, expected).await
}

/// Lets pods go that are on their way out, as their kubelets would in time. Only returns when it cannot.
async fn let_go(bed: &TestBed) -> anyhow::Error {
    let all: Api<Pod> = Api::all(bed.client());
    loop {
        let pods = match all.list(&ListParams::default()).await {
            Ok(pods) => pods,
            Err(error) => return error.into(),
        };
        for pod in pods.items.iter().filter(|pod| pod.metadata.deletion_timestamp.is_some()) {
            let own: Api<Pod> = Api::namespaced(bed.client(), &pod.namespace().unwrap_or_default());
            // Somebody else may have been faster.
            let _ = own.delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn repeated(bed: &TestBed, command: &str, expected: Option<&str>) -> anyhow::Result<String> {
    let reads = ["kubectl get ", "kubectl wait "].iter().any(|start| command.starts_with(start));
    match expected {
        Some(expected) if reads => {
            let printed =
                eventually(format!("`{command}` prints what the page says"), PATIENCE, async || {
                    let printed = run(bed, command).await?;
                    ensure!(tidy(&printed) == tidy(expected), "\n{printed}\nthe page says\n{expected}");
                    Ok(printed)
                });
            Ok(printed.await?)
        }
        Some(expected) => {
            let printed = run(bed, command).await?;
            ensure!(
                tidy(&printed) == tidy(expected),
                "`{command}` prints\n{printed}\nthe page says\n{expected}"
            );
            Ok(printed)
        }
        None if reads => settled(bed, command).await,
        None => run(bed, command).await,
    }
}

/// What a command prints when it goes on printing the same.
async fn settled(bed: &TestBed, command: &str) -> anyhow::Result<String> {
    let (mut last, mut since) = (String::new(), Instant::now());
    loop {
        let printed = run(bed, command).await.unwrap_or_default();
        if tidy(&printed) != tidy(&last) || printed.is_empty() {
            (last, since) = (printed, Instant::now());
        } else if since.elapsed() >= SETTLED {
            return Ok(printed);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Runs a command as a reader would, in the repository.
async fn run(bed: &TestBed, command: &str) -> anyhow::Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(workspace_root())
        .env("KUBECONFIG", bed.kubeconfig_path())
        .env("PATH", format!("{}:{path}", bed.programs_directory().display()))
        .output()
        .await
        .context("running a shell")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{command}`: {told}");
    let mut printed = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let _ = writeln!(printed, "{}", line.trim_end());
    }
    if printed.is_empty() {
        printed.push('\n');
    }
    Ok(printed)
}

/// Without what differs from run to run: how wide columns are, and how old things are.
fn tidy(printed: &str) -> Vec<Vec<String>> {
    let is_age = |word: &str| {
        let units = word.trim_start_matches(|digit: char| digit.is_ascii_digit());
        units.len() < word.len()
            && units.chars().all(|letter| letter.is_ascii_digit() || "smh".contains(letter))
    };
    let row = |line: &str| {
        let mut words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
        if words.len() > 1
            && words.last().is_some_and(|last| is_age(last) && !last.ends_with(char::is_numeric))
        {
            words.pop();
        }
        words
    };
    printed.lines().map(row).collect()
}

#[test]
fn only_ages_at_the_end_of_a_row_do_not_count() {
    assert_eq!(tidy("train-0   1/1  Running 0   3m12s\n"), tidy("train-0 1/1 Running 0 4s"));
    assert_ne!(tidy("team-a 4c 3"), tidy("team-a 4c 5"));
    assert_ne!(tidy("100m"), tidy("200m"));
}
