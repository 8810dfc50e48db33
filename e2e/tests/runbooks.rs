//! Runbooks: the commands under *Mitigation* are executed as written, by a user with the rights that the page names.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use quotient_e2e::quotient::{
    Operator, PATIENCE, PodCounts, SHORT_LEASE, SYSTEM_NAMESPACE, Stage, quotas, workspace_root,
};
use quotient_e2e::testbed::{TestBed, eventually};
use serde_json::json;

/// The critical alerts, each with a test below.
const CRITICAL: [&str; 5] = [
    "QuotientCycleStalled",
    "QuotientDown",
    "QuotientNoLeader",
    "QuotientQueueBelowGuaranteed",
    "QuotientSeveralLeaders",
];

/// What the runbook of blocked evictions is about: a budget that allows no disruption.
const BLOCKED: &str = "
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: team-b}
spec: {minAvailable: 4, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: team-b}
spec:
  replicas: 4
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: 'registry.k8s.io/pause:3.10', resources: {requests: {cpu: 2, memory: 1Gi}}}]
";

/// What a runbook says under *Mitigation*: the steps, each some commands, and the user that may execute them.
struct Emergency {
    alert: String,
    steps: Vec<String>,
    role: String,
    /// The whole cluster if there is none.
    namespace: Option<String>,
}

impl Emergency {
    fn of(alert: &str) -> Result<Self> {
        let page =
            std::fs::read_to_string(workspace_root().join(format!("docs/operations/runbooks/{alert}.md")))?;
        let (_, page) = page.split_once("## Mitigation").context("no mitigation")?;
        let (_, page) = page.split_once("You need the ClusterRole `").context("no user is named")?;
        let (role, page) = page.split_once("`, bound in the ").context("it is bound nowhere")?;
        let (place, steps) = page.split_once(":\n\n```sh\n").context("no commands")?;
        let steps = steps.split("```sh\n").map(|step| {
            let (commands, _) = step.split_once("```").context("no end of the commands")?;
            Ok(commands.to_owned())
        });
        let namespace = place.strip_prefix("namespace `").map(|name| name.trim_end_matches('`').to_owned());
        ensure!(namespace.is_some() || place == "whole cluster", "{place}");
        Ok(Self {
            alert: alert.to_owned(),
            steps: steps.collect::<Result<_>>()?,
            role: role.to_owned(),
            namespace,
        })
    }

    /// A user with that role and no other right.
    async fn user(&self, bed: &TestBed) -> Result<PathBuf> {
        let name = self.alert.to_lowercase();
        let role = format!("--clusterrole={}", self.role);
        let user = format!("--user={name}");
        let place = self.namespace.as_ref().map(|namespace| format!("--namespace={namespace}"));
        let kind = if place.is_some() { "rolebinding" } else { "clusterrolebinding" };
        bed.kubectl(["create", kind, &name, &role, &user].into_iter().chain(place.as_deref())).await?;
        Ok(bed.user_kubeconfig(&name, None)?)
    }

    /// Executes each step until it succeeds: RBAC learns of the user a moment later.
    async fn execute(&self, stage: &Stage) -> Result<()> {
        let user = self.user(&stage.bed).await?;
        for step in &self.steps {
            eventually(format!("{step} succeeds"), PATIENCE, async || shell(stage, &user, step).await)
                .await?;
        }
        Ok(())
    }
}

/// Executes commands of a page with the rights of a user; returns what they print.
async fn shell(stage: &Stage, kubeconfig: &Path, commands: &str) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let plugin = stage.programs.command_line.parent().context("the plugin is in no folder")?;
    let output = tokio::process::Command::new("sh")
        .args(["-e", "-c", commands])
        .env("KUBECONFIG", kubeconfig)
        .env("PATH", format!("{}:{}:{path}", stage.bed.programs_directory().display(), plugin.display()))
        .output()
        .await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// A critical alert without a command that works would wake a person for nothing.
#[test]
fn every_critical_runbook_names_commands_and_user() -> Result<()> {
    let rules = std::fs::read_to_string(workspace_root().join("charts/quotient/files/rules/alerts.yaml"))?;
    let alerts = rules.split("- alert: ").skip(1);
    let critical = alerts.filter(|rule| rule.contains("severity: critical"));
    let mut critical: Vec<&str> = critical.filter_map(|rule| rule.lines().next()).collect();
    critical.sort_unstable();
    assert_eq!(critical, CRITICAL);
    for alert in CRITICAL {
        Emergency::of(alert).with_context(|| alert.to_owned())?;
    }
    Ok(())
}

/// Alerts that no command of ours helps: a person repairs the cluster, or nothing has to be done.
const NO_COMMAND: [&str; 5] = [
    "QuotientAutoscalerCeilingReached",
    "QuotientLedgerRebuilt",
    "QuotientQuotaControllerSlow",
    "QuotientQuotaNotEnforced",
    "QuotientWritesFail",
];

/// The commands of the other alerts are executed on a cluster that has what they name.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_every_runbook_succeed() -> Result<()> {
    let stage = installed().await?;
    let operator = stage.start_operator().await?;
    for team in ["team-a", "team-b", "idle"] {
        stage.queue(team, json!({})).await?;
        stage
            .bed
            .kubectl(["wait", "resourcequota/quotient", "--for=create", "--timeout=60s", "-n", team])
            .await?;
    }
    stage.bed.create_namespace("visitors").await?;
    stage.bed.kubectl_with_input(["apply", "-f", "-"], BLOCKED).await?;
    stage.bed.kubectl(["wait", "pod/web-0", "--for=create", "--timeout=60s", "-n", "team-b"]).await?;
    let folder = workspace_root().join("docs/operations/runbooks");
    let mut silent = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let alert = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let page = std::fs::read_to_string(&path)?;
        let mitigation = page.split_once("## Mitigation").context("no mitigation")?.1;
        if !mitigation.contains("```") {
            silent.push(alert);
        } else if !CRITICAL.contains(&alert.as_str()) {
            Emergency::of(&alert).with_context(|| alert.clone())?.execute(&stage).await.context(alert)?;
        }
    }
    silent.sort_unstable();
    assert_eq!(silent, NO_COMMAND);
    operator.stop().await?;
    Ok(stage.bed.stop().await?)
}

/// Each alert has a command that prints its runbook from the cluster, for a user that may only read the operator's namespace.
#[tokio::test(flavor = "multi_thread")]
async fn every_alert_prints_its_runbook() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let bind = ["create", "rolebinding", "on-call", "--clusterrole=view", "--user=on-call"];
    stage.bed.kubectl(bind.into_iter().chain(["--namespace", SYSTEM_NAMESPACE])).await?;
    let user = stage.bed.user_kubeconfig("on-call", None)?;
    let rules = std::fs::read_to_string(workspace_root().join("charts/quotient/files/rules/alerts.yaml"))?;
    let mut seen = 0;
    for rule in rules.split("- alert: ").skip(1) {
        let alert = rule.lines().next().context("an alert without a name")?;
        let command = rule.split_once("      runbook: ").and_then(|(_, rest)| rest.lines().next());
        let command = command.with_context(|| format!("{alert} has no runbook"))?;
        let printed = shell(&stage, &user, command).await.with_context(|| alert.to_owned())?;
        let page = workspace_root().join(format!("docs/operations/runbooks/{alert}.md"));
        assert_eq!(printed, std::fs::read_to_string(page)?);
        seen += 1;
    }
    ensure!(seen > 20, "{seen}");
    Ok(stage.bed.stop().await?)
}

/// While the operator is down an administrator gives room by hand, and admission follows at once.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_gives_room_by_hand_while_the_operator_is_down() -> Result<()> {
    let stage = Stage::set(&[("node-1", "16", "32Gi")]).await?;
    let bed = &stage.bed;
    let operator = stage.start_operator().await?;
    stage.claim("team-a", json!({"limit": {"cpu": "2"}})).await?;
    stage.until_allowed("team-a", "cpu 2, memory 32Gi").await?;
    operator.stop().await?;
    stage.deployment("team-a", "web", 9, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_pods("team-a", PodCounts::running(2)).await?;
    Emergency::of("QuotientDown")?.execute(&stage).await?;
    stage.until_pods("team-a", PodCounts::running(9)).await?;
    let quota = ["delete", "resourcequota/quotient", "--namespace=team-a", "--as=quotientdown"];
    bed.kubectl(quota).await?;
    assert!(quotas(bed).await?.is_empty());
    Ok(stage.bed.stop().await?)
}

/// A Lease that no replica renews is deleted, and the next replica leads at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_no_replica_renews_is_deleted() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let bed = &stage.bed;
    let operator = stage.start_operator().await?;
    stage.claim("team", json!({})).await?;
    stage.until_allowed("team", "cpu 8, memory 16Gi").await?;
    operator.process().kill()?;
    let leases: Api<Lease> = Api::namespaced(bed.client(), SYSTEM_NAMESPACE);
    let holder = async || -> Result<Option<String>> {
        Ok(leases.get("quotient-operator").await?.spec.and_then(|spec| spec.holder_identity))
    };
    let dead = holder().await?;
    Emergency::of("QuotientNoLeader")?.execute(&stage).await?;
    let operator = Operator::start_with(bed, &stage.programs.operator, &SHORT_LEASE).await?;
    eventually("another replica leads", PATIENCE, async || {
        let now = holder().await?;
        ensure!(now.is_some() && now != dead, "{now:?}");
        Ok(())
    })
    .await?;
    stage.patch_queue("team", "team", json!({"limit": {"cpu": "4"}})).await?;
    stage.until_allowed("team", "cpu 4, memory 16Gi").await?;
    operator.stop().await?;
    Ok(stage.bed.stop().await?)
}

/// The pods of the chart's Deployment that are not terminating.
async fn operator_pods(bed: &TestBed) -> Result<Vec<String>> {
    let pods: Api<Pod> = Api::namespaced(bed.client(), SYSTEM_NAMESPACE);
    let all = pods.list(&ListParams::default().labels("app.kubernetes.io/name=quotient")).await?;
    let stay = all.items.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(stay.filter_map(|pod| pod.metadata.name).collect())
}

/// A bed on which the chart's Deployment has its pod.
async fn installed() -> Result<Stage> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    stage.bed.kubectl(["label", "node/node-1", "kubernetes.io/os=linux", "--overwrite"]).await?;
    let one = ["scale", "deployment/quotient", "--replicas=1", "--namespace", SYSTEM_NAMESPACE];
    stage.bed.kubectl(one).await?;
    eventually("the operator has a pod", PATIENCE, async || {
        ensure!(operator_pods(&stage.bed).await?.len() == 1, "it has none");
        Ok(())
    })
    .await?;
    Ok(stage)
}

/// A process that hangs gets a successor.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_that_hangs_is_started_again() -> Result<()> {
    let stage = installed().await?;
    let before = operator_pods(&stage.bed).await?;
    Emergency::of("QuotientCycleStalled")?.execute(&stage).await?;
    eventually("it has another pod", PATIENCE, async || {
        let now = operator_pods(&stage.bed).await?;
        ensure!(now.len() == 1 && now != before, "{now:?}");
        Ok(())
    })
    .await?;
    Ok(stage.bed.stop().await?)
}

/// Of two installations one is stopped.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_installations_is_stopped() -> Result<()> {
    let stage = installed().await?;
    Emergency::of("QuotientSeveralLeaders")?.execute(&stage).await?;
    eventually("it has no pod", PATIENCE, async || {
        let now = operator_pods(&stage.bed).await?;
        ensure!(now.is_empty(), "{now:?}");
        Ok(())
    })
    .await?;
    Ok(stage.bed.stop().await?)
}

/// Waits until the quota of a namespace allows this many cpus.
async fn until_cpu(bed: &TestBed, namespace: &str, expected: &str) -> Result<()> {
    eventually(format!("{namespace} is allowed {expected} cpu"), PATIENCE, async || {
        let path = "-o=jsonpath={.status.hard.requests\\.cpu}";
        let cpu = bed.kubectl(["get", "resourcequota/quotient", "--namespace", namespace, path]).await?;
        ensure!(cpu == expected, "{cpu}");
        Ok(())
    })
    .await?;
    // Admission follows the quota's status a moment later.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    Ok(())
}

/// A budget keeps every pod. The pod that an administrator deletes does not come back, and the other queue gets its room.
#[tokio::test(flavor = "multi_thread")]
async fn room_behind_a_budget_is_given_by_hand() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("team-b", json!({})).await?;
    stage.bed.kubectl_with_input(["apply", "-f", "-"], BLOCKED).await?;
    stage.until_pods("team-b", PodCounts::running(4)).await?;
    stage.queue("team-a", json!({})).await?;
    until_cpu(&stage.bed, "team-a", "0").await?;
    stage.deployment("team-a", "web", 1, json!({"cpu": "2", "memory": "1Gi"}), false).await?;
    until_cpu(&stage.bed, "team-b", "6").await?;
    stage.until_quiet_for(std::time::Duration::from_secs(3)).await?;
    assert_eq!(stage.pod_counts("team-a").await?, PodCounts::default());
    assert_eq!(stage.pod_counts("team-b").await?, PodCounts::running(4));
    let emergency = Emergency::of("QuotientEvictionsBlocked")?;
    let by_hand = emergency.steps.last().context("no step")?;
    let user = emergency.user(&stage.bed).await?;
    eventually("the pod is deleted", PATIENCE, async || shell(&stage, &user, by_hand).await).await?;
    stage.until_pods("team-a", PodCounts::running(1)).await?;
    stage.until_pods("team-b", PodCounts::running(3)).await?;
    operator.stop().await?;
    stage.end(quotient_invariants::Tolerance::default()).await
}

/// A queue that keeps its pods from eviction borrows what another queue is guaranteed, until an administrator lifts that.
#[tokio::test(flavor = "multi_thread")]
async fn a_guarantee_is_met_once_pods_may_be_evicted() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("team-b", json!({"eviction": {"policy": "Never"}})).await?;
    stage.deployment("team-b", "web", 8, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_pods("team-b", PodCounts::running(8)).await?;
    stage.queue("team-a", json!({"guaranteed": {"cpu": "4"}})).await?;
    until_cpu(&stage.bed, "team-a", "0").await?;
    stage.deployment("team-a", "web", 4, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_quiet_for(std::time::Duration::from_secs(3)).await?;
    assert_eq!(stage.pod_counts("team-a").await?, PodCounts::default());
    Emergency::of("QuotientQueueBelowGuaranteed")?.execute(&stage).await?;
    stage.until_pods("team-a", PodCounts::running(4)).await?;
    operator.stop().await?;
    stage.end(quotient_invariants::Tolerance::default()).await
}
