//! What is looked at: teams come and go, a share moves, one is kept back by a budget, one is refused a pod that is too large.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::ensure;
use jiff::Timestamp;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Programs, SYSTEM_NAMESPACE, Stage};
use quotient_e2e::testbed::{Options, TestBed, eventually, ports};
use serde_json::json;

use super::server::{Prometheus, Span};

/// How long an evicted pod takes to go.
const TERMINATION: Duration = Duration::from_secs(4);

/// Who may scrape: what the chart's users give to their Prometheus.
const READER: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "prometheus", "namespace": "quotient-system"}},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "metrics-reader"},
     "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "metrics-reader"},
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "metrics-reader"},
     "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": "quotient-system"}]}
]}"#;

/// Everything that runs, and since when.
pub(super) struct Watched {
    /// The control plane.
    pub(super) stage: Stage,
    /// The operator.
    pub(super) operator: Operator,
    /// Who scrapes it.
    pub(super) prometheus: Prometheus,
    /// The time in which something happened.
    pub(super) span: Span,
}

impl Watched {
    /// Ends everything.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.prometheus.stop().await?;
        self.operator.stop().await?;
        Ok(self.stage.bed.stop().await?)
    }
}

/// Plays it with pauses of `pause`, and leaves everything running.
pub(super) async fn play(pause: Duration) -> anyhow::Result<Watched> {
    let programs = Programs::build().await?;
    let options = Options { termination_delay: TERMINATION, ..Options::default() };
    let stage = Stage { bed: TestBed::start(options).await?, programs };
    let bed = &stage.bed;
    let gpus = ("example.com/gpu", "2");
    bed.add_node("node-1", &[("cpu", "6"), ("memory", "12Gi"), gpus]).await?;
    bed.add_node("node-2", &[("cpu", "6"), ("memory", "12Gi"), gpus]).await?;
    let scraped = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()?));
    // Every address there is: that of loopback alone would be open to anybody.
    let listen = format!("0.0.0.0:{}", scraped.port());
    let arguments = ["--metrics-listen", &listen, "--status-interval-seconds", "1"];
    let operator = Operator::start_with(bed, &stage.programs.operator, &arguments).await?;
    let reader = bed.directory().join("reader.json");
    std::fs::write(&reader, READER)?;
    bed.kubectl(["apply", "-f", &reader.to_string_lossy()]).await?;
    let token = bed.kubectl(["create", "token", "prometheus", "-n", SYSTEM_NAMESPACE]).await?;
    let prometheus = Prometheus::start(bed, scraped, token.trim()).await?;
    let from = Timestamp::now().as_second();
    act(&stage, pause).await?;
    let span = Span { from, to: Timestamp::now().as_second() };
    Ok(Watched { stage, operator, prometheus, span })
}

async fn act(stage: &Stage, pause: Duration) -> anyhow::Result<()> {
    let wait = async || tokio::time::sleep(pause).await;
    let one = || json!({"cpu": "1", "memory": "1Gi"});
    stage.queue("team-a", json!({"weight": 2})).await?;
    stage.queue("team-b", json!({"weight": 1, "limit": {"cpu": "8"}})).await?;
    wait().await;
    stage.deployment("team-a", "web", 7, one(), true).await?;
    stage.deployment("team-b", "train", 4, one(), true).await?;
    stage.until_pods("team-a", PodCounts::running(7)).await?;
    stage.until_pods("team-b", PodCounts::running(4)).await?;
    let budget = ["create", "pdb", "train", "-n", "team-b", "--selector=app=train", "--min-available=4"];
    stage.bed.kubectl(budget).await?;
    wait().await;
    // A third team claims what it is guaranteed. One team's pods take their time, the other's are kept by a budget.
    stage.queue("team-c", json!({"weight": 1, "guaranteed": {"cpu": "3"}})).await?;
    stage.deployment("team-c", "batch", 3, one(), false).await?;
    wait().await;
    stage.bed.kubectl(["delete", "pdb", "train", "-n", "team-b"]).await?;
    eventually("what is held goes, and team-c runs", PATIENCE, async || {
        // Long enough on their way out to be seen.
        tokio::time::sleep(Duration::from_secs(1)).await;
        stage.release("team-a").await?;
        stage.release("team-b").await?;
        let counts = stage.pod_counts("team-c").await?;
        ensure!(counts == PodCounts::running(3), "{counts:?}");
        Ok(())
    })
    .await?;
    wait().await;
    // A pod that is larger than any share, and somebody who edits a quota.
    stage.deployment("team-b", "huge", 1, json!({"cpu": "9", "memory": "1Gi"}), false).await?;
    let edit = r#"{"spec": {"hard": {"requests.cpu": "99"}}}"#;
    let patch = ["patch", "resourcequota", "quotient", "-n", "team-a", "--type=merge", "-p", edit];
    stage.bed.kubectl(patch).await?;
    // Devices, and a namespace without a Queue.
    let gpu = json!({"cpu": "100m", "memory": "100Mi", "example.com/gpu": "1"});
    stage.deployment("team-b", "tune", 3, gpu, false).await?;
    stage.bed.create_namespace("visitors").await?;
    let guest = json!({"cpu": "500m", "memory": "2Gi", "example.com/gpu": "1"});
    stage.deployment("visitors", "guest", 1, guest, false).await?;
    wait().await;
    // The third team is done: what was taken for it goes back.
    stage.bed.kubectl(["scale", "deployment", "batch", "-n", "team-c", "--replicas=1"]).await?;
    wait().await;
    wait().await;
    Ok(())
}
