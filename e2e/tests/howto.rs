//! How-to pages as an administrator follows them: the commands of each page in order, on a cluster with Helm.
//!
//! A command that cannot run here is listed with the reason. `cli/tests/docs.rs` knows these pages as played.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use quotient_e2e::quotient::{Stage, helm_arguments, workspace_root};
use quotient_e2e::testbed::{Options, TestBed};

use crate::reader::{Reader, blocks, commands};

/// A page and the cluster that it assumes.
struct Page {
    path: &'static str,
    /// The mode of the chart at the beginning.
    mode: &'static str,
    /// What the reader has before.
    prepared: &'static str,
    /// Placeholders of the page, and what the reader writes instead.
    written: &'static [(&'static str, &'static str)],
    /// The beginnings of commands that do not run here, each with the reason.
    skipped: &'static [(&'static str, &'static str)],
}

const TEAMS: &str = "
for team in team-b team-c; do
  kubectl create namespace $team
  kubectl -n $team create deployment web --image=registry.k8s.io/pause:3.10 --replicas=2
  kubectl -n $team set resources deployment web --requests=cpu=1,memory=1Gi
done
kubectl create namespace team-a
kubectl -n team-b rollout status deployment web --timeout=60s
kubectl -n team-c rollout status deployment web --timeout=60s
";

const MANAGED: &str = "
kubectl create namespace team-a
kubectl create -f - <<'EOF'
{apiVersion: quotient.dev/v1alpha1, kind: Queue, metadata: {name: team-a, namespace: team-a}, spec: {weight: 2}}
EOF
kubectl -n team-a wait resourcequota/quotient --for=create --timeout=60s
kubectl -n team-a create deployment web --image=registry.k8s.io/pause:3.10 --replicas=2
kubectl -n team-a rollout status deployment web --timeout=120s
";

/// How many clusters are used at the same time: mostly they wait.
const LANES: usize = 3;

static PAGES: [Page; 7] = [
    Page { path: "docs/how-to/adopt.md", mode: "Observe", prepared: TEAMS, written: &[], skipped: &[] },
    Page {
        path: "docs/how-to/several-namespaces.md",
        mode: "Full",
        prepared: "kubectl create namespace team-1\nkubectl create namespace team-2",
        written: &[],
        skipped: &[],
    },
    Page {
        path: "docs/how-to/requests.md",
        mode: "Full",
        prepared: MANAGED,
        written: &[("NAMESPACE", "team-a"), ("QUEUE", "team-a")],
        skipped: &[
            ("kubectl -n NAMESPACE get pods -o json | jq", "jq is no tool of this repository"),
            ("kubectl -n NAMESPACE top pods", "the test bed has no metrics server"),
        ],
    },
    Page { path: "docs/how-to/gpus.md", mode: "Full", prepared: MANAGED, written: &[], skipped: &[] },
    Page { path: "docs/how-to/simulate.md", mode: "Full", prepared: MANAGED, written: &[], skipped: &[] },
    Page {
        path: "docs/how-to/gate.md",
        mode: "Full",
        prepared: MANAGED,
        written: &[("POD", "waits")],
        skipped: &[],
    },
    Page { path: "docs/how-to/leave.md", mode: "Full", prepared: MANAGED, written: &[], skipped: &[] },
];

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_follows_the_pages() -> Result<()> {
    let lane = |lane| follow_in_turn(PAGES.iter().skip(lane).step_by(LANES));
    try_join_all((0..LANES).map(lane)).await.map(drop)
}

/// Follows pages one after the other, in a cluster of their own.
async fn follow_in_turn(pages: impl Iterator<Item = &Page>) -> Result<()> {
    let stage = Stage::bare(Options::default()).await?;
    let bed = &stage.bed;
    let gpus = ("nvidia.com/gpu", "8");
    bed.add_node("node-1", &[("cpu", "16"), ("memory", "64Gi")]).await?;
    bed.add_node("node-2", &[("cpu", "8"), ("memory", "64Gi"), gpus]).await?;
    bed.kubectl(["label", "node", "--all", "kubernetes.io/os=linux", "--overwrite"]).await?;
    let mut reader = Reader::new(&stage).await?;
    let folder = tempfile::tempdir()?;
    for name in ["charts", "crds", "examples"] {
        std::os::unix::fs::symlink(workspace_root().join(name), folder.path().join(name))?;
    }
    reader.works_in(folder.path());
    bed.helm(helm_arguments(&["install", "--create-namespace", "--wait"], &["config.nodeReadySeconds=0"]))
        .await?;
    for page in pages {
        follow(bed, &mut reader, page, folder.path()).await.with_context(|| page.path)?;
    }
    reader.stop().await?;
    stage.bed.stop().await
}

/// Prepares the cluster for a page, runs its commands, and takes everything away again.
async fn follow(bed: &TestBed, reader: &mut Reader<'_>, page: &Page, folder: &Path) -> Result<()> {
    let mode = format!("config.mode={}", page.mode);
    bed.helm(helm_arguments(&["upgrade", "--wait"], &["config.nodeReadySeconds=0", &mode])).await?;
    reader.follow_the_chart().await?;
    reader.run(page.prepared).await?;
    let text = std::fs::read_to_string(workspace_root().join(page.path))?;
    let mut ran = 0;
    for (language, block) in blocks(&text) {
        // Without a language a block is an output, unless it begins with a command.
        let programs = ["kubectl ", "helm ", "until="];
        let is_commands = language == "sh" || programs.iter().any(|program| block.starts_with(program));
        if !is_commands || !["", "sh"].contains(&language.as_str()) {
            continue;
        }
        for command in commands(&block) {
            if page.skipped.iter().any(|(start, _)| command.starts_with(start)) {
                continue;
            }
            let written =
                page.written.iter().fold(command, |command, (name, value)| command.replace(name, value));
            before(reader, &written, folder).await?;
            reader.run(&written).await?;
            reader.follow_the_chart().await?;
            ran += 1;
        }
    }
    for (start, reason) in page.skipped {
        ensure!(text.contains(start), "no command begins with {start:?}, which is skipped because {reason}");
    }
    ensure!(ran > 2, "only {ran} commands");
    println!("{}: {ran} commands", page.path);
    let teams = "team-a team-b team-c team-1 team-2 org";
    reader
        .run(&format!(
            "kubectl delete queues.quotient.dev --all --all-namespaces\n\
             kubectl delete namespace {teams} --ignore-not-found --timeout=120s"
        ))
        .await?;
    Ok(())
}

/// What a page takes for granted before a command.
async fn before(reader: &Reader<'_>, command: &str, folder: &Path) -> Result<()> {
    // A snapshot that a job has written.
    if command.contains("prod.json.gz") && !folder.join("prod.json.gz").exists() {
        reader.run("kubectl quotient snapshot -o prod.json.gz").await?;
    }
    // A pod that waits for its gate: larger than the share.
    if command.contains("patch pod waits") {
        let pod = "kubectl -n team-a create -f - <<'EOF'\n\
            {apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {containers: [{name: main, image: pause, resources: {requests: {cpu: \"99\", memory: 1Gi}}}]}}\n\
            EOF";
        reader.run(pod).await?;
    }
    // RBAC, quotas and policies follow a moment later.
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(())
}
