//! Prometheus itself on what is watched: promtool reads the rules, tries every alert, and reads a live scrape.

mod scenario;
mod server;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use quotient_e2e::quotient::{Operator, workspace_root};
use quotient_e2e::testbed::binaries::{Binaries, Module, Program};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use self::scenario::{Shared, Watched, play};

/// Runs promtool in the repository, with `input`.
async fn promtool(arguments: &[&str], files: &[String], input: &str) -> anyhow::Result<String> {
    let mut command = Command::new(Binaries::find(Module::Prometheus).await?.path(Program::Promtool));
    command.args(arguments).args(files).current_dir(workspace_root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().context("running promtool")?;
    let mut stdin = running.stdin.take().context("promtool has no input")?;
    stdin.write_all(input.as_bytes()).await?;
    drop(stdin);
    let output = running.wait_with_output().await?;
    let printed =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    ensure!(output.status.success(), "promtool {arguments:?}: {printed}");
    Ok(printed)
}

/// The YAML files of a directory of the repository.
fn yaml_files(directory: &str) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(workspace_root().join(directory))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let name = path.file_name().unwrap_or_default();
            files.push(Path::new(directory).join(name).to_string_lossy().into_owned());
        }
    }
    files.sort();
    ensure!(!files.is_empty(), "{directory} has no YAML files");
    Ok(files)
}

#[tokio::test]
async fn the_rules_are_sound() -> anyhow::Result<()> {
    promtool(&["check", "rules", "--lint-fatal"], &yaml_files("charts/quotient/files/rules")?, "").await?;
    Ok(())
}

#[tokio::test]
async fn every_alert_fires_when_it_should_and_not_otherwise() -> anyhow::Result<()> {
    promtool(&["test", "rules"], &yaml_files("e2e/rules")?, "").await?;
    Ok(())
}

/// Of an operator at work: `reclaims.rs` has one.
pub(crate) async fn a_live_scrape_follows_the_conventions(operator: &Operator) -> anyhow::Result<()> {
    let (code, text) = operator.get("/metrics").await?;
    ensure!(code == 200, "{code}: {text}");
    let complaints = promtool(&["check", "metrics"], &[], &text).await?;
    assert_eq!(complaints, "", "of the scrape\n{text}");
    Ok(())
}

/// The chart's dashboards on a real Prometheus, which scrapes the operator as it would in a cluster: over TLS, with the
/// token of a service account. The teams share cpu and memory.
#[tokio::test(flavor = "multi_thread")]
async fn every_panel_shows_something() -> anyhow::Result<()> {
    let watched = play(Shared::Cpu, Duration::from_secs(3)).await?;
    no_panel_is_empty(&watched, Shared::Cpu).await?;
    who_scrapes_is_reviewed_once_a_minute(&watched)?;
    watched.end().await
}

/// The same in a cluster that shares GPUs alone.
#[tokio::test(flavor = "multi_thread")]
async fn every_panel_shows_something_where_only_gpus_are_shared() -> anyhow::Result<()> {
    let watched = play(Shared::Gpus, Duration::from_secs(3)).await?;
    no_panel_is_empty(&watched, Shared::Gpus).await?;
    watched.end().await
}

/// Asks for every line of every panel. With `QUOTIENT_PANELS=FOLDER`, writes the answers there, to draw them.
async fn no_panel_is_empty(watched: &Watched, shared: Shared) -> anyhow::Result<()> {
    let folder = std::env::var_os("QUOTIENT_PANELS").map(PathBuf::from);
    let mut empty = Vec::new();
    for resource in shared.resources() {
        for name in ["overview", "queue", "tenant", "capacity", "operator"] {
            let mut shown = Vec::new();
            for (panel, queries) in panels(name, resource)? {
                for (legend, query) in queries {
                    let series = watched.prometheus.series(&query, watched.span).await;
                    let series = series.with_context(|| format!("{name}: {panel}"))?;
                    if series.is_empty() {
                        empty.push(format!("{name}, {resource}: {panel} {legend}"));
                    }
                    shown.push(json!({"panel": panel, "legend": legend, "series": series}));
                }
            }
            if let Some(folder) = &folder {
                let file = format!("{shared:?}-{}-{name}.json", resource.replace('/', "-"));
                std::fs::create_dir_all(folder)?;
                std::fs::write(folder.join(file), serde_json::to_string(&shown)?)?;
            }
        }
    }
    assert_eq!(empty, [""; 0], "nothing is found for these panels");
    Ok(())
}

/// The title of a panel, and the legends and queries of its lines.
type Panel = (String, Vec<(String, String)>);

/// The panels of a dashboard, each with its legends and queries as Grafana sends them. A variable with a value for all has
/// that value, `resource` is the given one, and every other one is the team `team-b`.
fn panels(dashboard: &str, resource: &str) -> anyhow::Result<Vec<Panel>> {
    let file = workspace_root().join(format!("charts/quotient/files/dashboards/{dashboard}.json"));
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let variables = array(&dashboard["templating"]["list"]);
    let query = |target: &Value| {
        // A rate over what a scrape a second allows.
        let query = text(&target["expr"]).replace("$__rate_interval", "15s");
        variables.iter().fold(query, |query, variable| {
            let value = match variable["name"].as_str() {
                _ if variable["includeAll"] == true => ".*",
                Some("resource") => resource,
                _ => "team-b",
            };
            query.replace(&format!("${}", text(&variable["name"])), value)
        })
    };
    let panels = array(&dashboard["panels"]);
    ensure!(!panels.is_empty(), "there are no panels");
    let queries = |panel: &Value| {
        let targets = array(&panel["targets"]);
        targets.iter().map(|target| (text(&target["legendFormat"]), query(target))).collect()
    };
    Ok(panels.iter().map(|panel| (text(&panel["title"]), queries(panel))).collect())
}

fn who_scrapes_is_reviewed_once_a_minute(watched: &Watched) -> anyhow::Result<()> {
    let asked = watched.stage.bed.audit().events()?;
    let reviews = |resource: &str| asked.iter().filter(|event| event.resource == resource).count();
    // A scrape a second, and a question a minute. The first scrapes may have come at once, before any was answered.
    let seconds = Timestamp::now().as_second().saturating_sub(watched.span.from);
    let most = usize::try_from(seconds / 60)?.saturating_add(4);
    let (tokens, accesses) = (reviews("tokenreviews"), reviews("subjectaccessreviews"));
    ensure!(
        (1..=most).contains(&tokens) && tokens == accesses,
        "{tokens} token reviews, {accesses} access reviews in {seconds} s"
    );
    Ok(())
}
