//! What is watched: teams come and go, a share moves, a budget keeps pods, one pod is too large for its team, a quota is refused.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::ensure;
use jiff::Timestamp;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, SYSTEM_NAMESPACE, Stage};
use quotient_e2e::testbed::{Options, eventually, ports, until_is};
use serde_json::{Value, json};

use super::server::{Prometheus, Span};

/// How long an evicted pod takes to go.
const TERMINATION: Duration = Duration::from_secs(4);

/// The right to scrape: what the chart's users give to their Prometheus.
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
    /// The account that scrapes it.
    pub(super) prometheus: Prometheus,
    /// The time in which something happened.
    pub(super) span: Span,
}

impl Watched {
    /// Ends everything.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        self.prometheus.stop().await?;
        self.operator.stop().await?;
        self.stage.bed.stop().await
    }
}

/// What teams share: cpu and memory, or nothing but devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    Cpu,
    Gpus,
}

impl Shared {
    /// The resource that is scarce.
    pub(super) const fn resource(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpus => "example.com/gpu",
        }
    }

    /// The resources that dashboards offer.
    pub(super) const fn resources(self) -> &'static [&'static str] {
        match self {
            Self::Cpu => &["cpu", "memory"],
            Self::Gpus => &["example.com/gpu"],
        }
    }

    /// The amounts of one of two nodes.
    const fn node(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Cpu => &[("cpu", "6"), ("memory", "12Gi")],
            Self::Gpus => &[("cpu", "64"), ("memory", "256Gi"), ("example.com/gpu", "6")],
        }
    }

    /// Flags of the operator: what it shares out, and a ceiling that the nodes have reached.
    const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Cpu => &["--capacity=cpu=12,memory=24Gi"],
            Self::Gpus => &["--resources=example.com/gpu", "--capacity=example.com/gpu=12"],
        }
    }

    /// So many of the scarce resource, in the spec of a Queue.
    fn amount(self, count: u32) -> Value {
        let mut amount = json!({self.resource(): count.to_string()});
        if self == Self::Cpu {
            amount["memory"] = format!("{count}Gi").into();
        }
        amount
    }

    /// The requests of a pod.
    fn pod(self, count: u32) -> Value {
        let mut requests = json!({"cpu": "100m", "memory": format!("{count}Gi")});
        requests[self.resource()] = count.to_string().into();
        requests
    }
}

/// Plays it with pauses of `pause`, and leaves everything running.
pub(super) async fn play(shared: Shared, pause: Duration) -> anyhow::Result<Watched> {
    let stage = Stage::bare(Options { termination_delay: TERMINATION, ..Options::default() }).await?;
    let bed = &stage.bed;
    bed.add_node("node-1", shared.node()).await?;
    bed.add_node("node-2", shared.node()).await?;
    let scraped = SocketAddr::from((Ipv4Addr::LOCALHOST, ports::free()?));
    // Every address there is: that of loopback alone would be open to every client.
    let listen = format!("0.0.0.0:{}", scraped.port());
    let arguments = ["--metrics-listen", &listen, "--status-interval-seconds", "1"];
    let arguments: Vec<&str> = arguments.iter().chain(shared.arguments()).copied().collect();
    let operator = Operator::start_with(bed, &stage.programs.operator, &arguments).await?;
    let reader = bed.directory().join("reader.json");
    std::fs::write(&reader, READER)?;
    bed.kubectl(["apply", "-f", &reader.to_string_lossy()]).await?;
    let token = bed.kubectl(["create", "token", "prometheus", "-n", SYSTEM_NAMESPACE]).await?;
    let prometheus = Prometheus::start(bed, scraped, token.trim()).await?;
    let from = Timestamp::now().as_second();
    act(&stage, shared, pause).await?;
    let span = Span { from, to: Timestamp::now().as_second() };
    Ok(Watched { stage, operator, prometheus, span })
}

/// A policy of the cluster that refuses the quota of one team.
const REFUSED: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-quota"},
     "spec": {"failurePolicy": "Fail",
      "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["resourcequotas"]}]},
      "matchConditions": [{"name": "team-d", "expression": "request.namespace == 'team-d'"}],
      "validations": [{"expression": "false", "message": "no quota here"}]}},
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no-quota"},
     "spec": {"policyName": "no-quota", "validationActions": ["Deny"]}}
]}"#;

/// Creates the namespace of that team, and waits until the API server knows the policy.
async fn refuse_a_quota(stage: &Stage) -> anyhow::Result<()> {
    stage.bed.apply(REFUSED).await?;
    stage.bed.create_namespace("team-d").await?;
    let probe = ["create", "quota", "probe", "--namespace=team-d", "--dry-run=server"];
    eventually("the policy is enforced", PATIENCE, async || {
        ensure!(stage.bed.kubectl(probe).await.is_err(), "a quota would be created");
        Ok(())
    })
    .await
}

async fn act(stage: &Stage, shared: Shared, pause: Duration) -> anyhow::Result<()> {
    let wait = async || tokio::time::sleep(pause).await;
    refuse_a_quota(stage).await?;
    // A namespace without a Queue.
    stage.bed.create_namespace("visitors").await?;
    stage.deployment("visitors", "guest", 1, shared.pod(1), false).await?;
    stage.until_pods("visitors", PodCounts::running(1)).await?;
    stage.queue("team-a", json!({"weight": 2})).await?;
    stage
        .queue("team-b", json!({"weight": 1, "guaranteed": shared.amount(1), "limit": shared.amount(8)}))
        .await?;
    stage.queue_object("team-d", "team-d", json!({"weight": 0, "limit": shared.amount(0)})).await?;
    wait().await;
    stage.deployment("team-a", "web", 7, shared.pod(1), true).await?;
    stage.deployment("team-b", "train", 4, shared.pod(1), true).await?;
    stage.until_pods("team-a", PodCounts::running(7)).await?;
    stage.until_pods("team-b", PodCounts::running(4)).await?;
    let budget = ["create", "pdb", "train", "-n", "team-b", "--selector=app=train", "--min-available=4"];
    stage.bed.kubectl(budget).await?;
    wait().await;
    // A third team claims its guaranteed amount. Pods of one team take their time, a budget keeps those of the other.
    stage.queue("team-c", json!({"weight": 1, "guaranteed": shared.amount(3)})).await?;
    stage.until_quota("team-c").await?;
    stage.deployment("team-c", "batch", 3, shared.pod(1), false).await?;
    wait().await;
    stage.bed.kubectl(["delete", "pdb", "train", "-n", "team-b"]).await?;
    until_is("what is held ends, and team-c runs", PodCounts::running(3), async || {
        // Long enough terminating to be seen.
        tokio::time::sleep(Duration::from_secs(1)).await;
        stage.release("team-a").await?;
        stage.release("team-b").await?;
        stage.pod_counts("team-c").await
    })
    .await?;
    wait().await;
    // A pod that is larger than any share, and a user that edits a quota.
    stage.deployment("team-b", "huge", 1, shared.pod(9), false).await?;
    let edit = format!("{{\"spec\": {{\"hard\": {{\"requests.{}\": \"99\"}}}}}}", shared.resource());
    let patch = ["patch", "resourcequota", "quotient", "-n", "team-a", "--type=merge", "-p", &edit];
    stage.bed.kubectl(patch).await?;
    wait().await;
    // The third team is done: its room goes back.
    stage.bed.kubectl(["scale", "deployment", "batch", "-n", "team-c", "--replicas=1"]).await?;
    wait().await;
    wait().await;
    Ok(())
}
