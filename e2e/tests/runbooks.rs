//! Runbooks: the commands under *Mitigation* are executed as written, by a user with the rights that the page names.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{
    Operator, PATIENCE, PodCounts, SHORT_LEASE, SYSTEM_NAMESPACE, Stage, quotas, workspace_root,
};
use quotient_e2e::testbed::{TestBed, eventually, objects, until_is};
use serde_json::json;

use crate::reader::shell_blocks;

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
        let (place, _) = page.split_once(":\n\n```sh\n").context("no commands")?;
        let namespace = place.strip_prefix("namespace `").map(|name| name.trim_end_matches('`').to_owned());
        ensure!(namespace.is_some() || place == "whole cluster", "{place}");
        Ok(Self { alert: alert.to_owned(), steps: shell_blocks(page), role: role.to_owned(), namespace })
    }

    /// A user with that role and no other right.
    async fn user(&self, bed: &TestBed) -> Result<PathBuf> {
        bed.user_with_role(&self.alert.to_lowercase(), &self.role, self.namespace.as_deref()).await
    }

    /// Executes each step until it succeeds: RBAC learns of the user a moment later.
    async fn execute(&self, stage: &Stage) -> Result<()> {
        let user = self.user(&stage.bed).await?;
        for step in &self.steps {
            eventually(format!("{step} succeeds"), PATIENCE, async || stage.shell(&user, step).await).await?;
        }
        Ok(())
    }
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

/// A cluster on which the chart's Deployment has its pod: each alert prints its runbook, and the commands of each one succeed.
#[tokio::test(flavor = "multi_thread")]
async fn every_runbook_is_printed_and_its_commands_succeed() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    every_alert_prints_its_runbook(&stage).await?;
    stage.bed.kubectl(["label", "node/node-1", "kubernetes.io/os=linux", "--overwrite"]).await?;
    let one = ["scale", "deployment/quotient", "--replicas=1", "--namespace", SYSTEM_NAMESPACE];
    stage.bed.kubectl(one).await?;
    until_is("the operator has a pod", 1, async || Ok(operator_pods(&stage.bed).await?.len())).await?;
    the_commands_of_every_runbook_succeed(&stage).await?;
    an_operator_that_hangs_is_started_again(&stage).await?;
    one_of_two_installations_is_stopped(&stage).await?;
    stage.bed.stop().await
}

/// The commands of alerts that are not critical are executed on a cluster that has what they name.
async fn the_commands_of_every_runbook_succeed(stage: &Stage) -> Result<()> {
    let operator = stage.start_operator().await?;
    for team in ["team-a", "team-b", "idle"] {
        stage.queue(team, json!({})).await?;
        stage.until_quota(team).await?;
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
            Emergency::of(&alert).with_context(|| alert.clone())?.execute(stage).await.context(alert)?;
        }
    }
    silent.sort_unstable();
    assert_eq!(silent, NO_COMMAND);
    operator.stop().await
}

/// Each alert has a command that prints its runbook from the cluster, for a user that may only read the operator's namespace.
async fn every_alert_prints_its_runbook(stage: &Stage) -> Result<()> {
    let user = stage.bed.user_with_role("on-call", "view", Some(SYSTEM_NAMESPACE)).await?;
    let rules = std::fs::read_to_string(workspace_root().join("charts/quotient/files/rules/alerts.yaml"))?;
    let mut seen = 0;
    for rule in rules.split("- alert: ").skip(1) {
        let alert = rule.lines().next().context("an alert without a name")?;
        let command = rule.split_once("      runbook: ").and_then(|(_, rest)| rest.lines().next());
        let command = command.with_context(|| format!("{alert} has no runbook"))?;
        let printed = stage.shell(&user, command).await.with_context(|| alert.to_owned())?;
        let page = workspace_root().join(format!("docs/operations/runbooks/{alert}.md"));
        assert_eq!(printed, std::fs::read_to_string(page)?);
        seen += 1;
    }
    ensure!(seen > 20, "{seen}");
    Ok(())
}

/// The operator is killed: an administrator gives room by hand, and deletes the Lease that no replica renews.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_helps_while_the_operator_is_down() -> Result<()> {
    let stage = Stage::set(&[("node-1", "16", "32Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.claim("team-a", json!({"limit": {"cpu": "2"}})).await?;
    stage.until_allowed("team-a", "cpu 2, memory 32Gi").await?;
    operator.process().kill()?;
    an_administrator_gives_room_by_hand_while_the_operator_is_down(&stage).await?;
    a_lease_that_no_replica_renews_is_deleted(&stage).await?;
    stage.bed.stop().await
}

/// Admission follows at once what an administrator writes.
async fn an_administrator_gives_room_by_hand_while_the_operator_is_down(stage: &Stage) -> Result<()> {
    stage.deployment("team-a", "web", 9, objects::one_cpu(), false).await?;
    stage.until_pods("team-a", PodCounts::running(2)).await?;
    Emergency::of("QuotientDown")?.execute(stage).await?;
    stage.until_pods("team-a", PodCounts::running(9)).await?;
    let quota = ["delete", "resourcequota/quotient", "--namespace=team-a", "--as=quotientdown"];
    stage.bed.kubectl(quota).await?;
    assert!(quotas(&stage.bed).await?.is_empty());
    Ok(())
}

/// Once the Lease is deleted, the next replica leads at once.
async fn a_lease_that_no_replica_renews_is_deleted(stage: &Stage) -> Result<()> {
    let leases = stage.api::<Lease>(SYSTEM_NAMESPACE);
    let holder = async || -> Result<Option<String>> {
        Ok(leases.get("quotient-operator").await?.spec.and_then(|spec| spec.holder_identity))
    };
    let dead = holder().await?;
    ensure!(dead.is_some(), "the Lease is not held");
    Emergency::of("QuotientNoLeader")?.execute(stage).await?;
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &SHORT_LEASE).await?;
    eventually("another replica leads", PATIENCE, async || {
        let now = holder().await?;
        ensure!(now.is_some() && now != dead, "{now:?}");
        Ok(())
    })
    .await?;
    stage.patch_queue("team-a", "team-a", json!({"limit": {"cpu": "4"}})).await?;
    stage.until_allowed("team-a", "cpu 4, memory 32Gi").await?;
    operator.stop().await
}

/// The pods of the chart's Deployment that are not terminating.
async fn operator_pods(bed: &TestBed) -> Result<Vec<String>> {
    let pods: Api<Pod> = Api::namespaced(bed.client(), SYSTEM_NAMESPACE);
    let all = pods.list(&ListParams::default().labels("app.kubernetes.io/name=quotient")).await?;
    let stay = all.items.into_iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    Ok(stay.filter_map(|pod| pod.metadata.name).collect())
}

/// A process that hangs gets a successor.
async fn an_operator_that_hangs_is_started_again(stage: &Stage) -> Result<()> {
    let before = operator_pods(&stage.bed).await?;
    Emergency::of("QuotientCycleStalled")?.execute(stage).await?;
    eventually("it has another pod", PATIENCE, async || {
        let now = operator_pods(&stage.bed).await?;
        ensure!(now.len() == 1 && now != before, "{now:?}");
        Ok(())
    })
    .await
}

/// Of two installations one is stopped.
async fn one_of_two_installations_is_stopped(stage: &Stage) -> Result<()> {
    Emergency::of("QuotientSeveralLeaders")?.execute(stage).await?;
    eventually("it has no pod", PATIENCE, async || {
        let now = operator_pods(&stage.bed).await?;
        ensure!(now.is_empty(), "{now:?}");
        Ok(())
    })
    .await
}

/// What one queue uses is another one's share: behind a budget first, then behind a policy.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_gives_a_queue_what_no_eviction_may() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("team-b", json!({})).await?;
    stage.bed.kubectl_with_input(["apply", "-f", "-"], BLOCKED).await?;
    stage.until_pods("team-b", PodCounts::running(4)).await?;
    stage.queue("team-a", json!({})).await?;
    stage.until_cpu("team-a", "0").await?;
    room_behind_a_budget_is_given_by_hand(&stage).await?;
    a_guarantee_is_met_once_pods_may_be_evicted(&stage).await?;
    stage.end(operator).await
}

/// A budget keeps every pod: the other queue is told how much that is, and the way out. The pod that an administrator deletes
/// does not come back, and the other queue gets its room.
async fn room_behind_a_budget_is_given_by_hand(stage: &Stage) -> Result<()> {
    stage.deployment("team-a", "web", 1, json!({"cpu": "2", "memory": "1Gi"}), false).await?;
    stage.until_cpu("team-b", "6").await?;
    nothing_moves(stage, 0, 4).await?;
    let said = stage.until_condition("team-a", ConditionType::Starved, ("True", "Budget")).await?;
    for part in ["budget web", "uses cpu 4 above its nominal share", "kubectl delete pod"] {
        ensure!(said.contains(part), "{part} is not in {said}");
    }
    let emergency = Emergency::of("QuotientEvictionsBlocked")?;
    let by_hand = emergency.steps.last().context("no step")?;
    let user = emergency.user(&stage.bed).await?;
    eventually("the pod is deleted", PATIENCE, async || stage.shell(&user, by_hand).await).await?;
    stage.until_pods("team-a", PodCounts::running(1)).await?;
    stage.until_pods("team-b", PodCounts::running(3)).await
}

/// A queue that keeps its pods from eviction borrows what another queue is guaranteed, until an administrator lifts that.
async fn a_guarantee_is_met_once_pods_may_be_evicted(stage: &Stage) -> Result<()> {
    stage.patch_queue("team-b", "team-b", json!({"eviction": {"policy": "Never"}})).await?;
    stage.bed.kubectl(["delete", "poddisruptionbudget/web", "--namespace=team-b"]).await?;
    stage.patch_queue("team-a", "team-a", json!({"guaranteed": {"cpu": "4"}})).await?;
    stage.bed.kubectl(["scale", "deployment/web", "--replicas=2", "--namespace=team-a"]).await?;
    nothing_moves(stage, 1, 3).await?;
    Emergency::of("QuotientQueueBelowGuaranteed")?.execute(stage).await?;
    stage.until_pods("team-a", PodCounts::running(2)).await?;
    stage.until_pods("team-b", PodCounts::running(2)).await
}

/// The operator has nothing left to do, and as many pods run in both namespaces as before.
async fn nothing_moves(stage: &Stage, team_a: u32, team_b: u32) -> Result<()> {
    stage.until_quiet_for(std::time::Duration::from_secs(3)).await?;
    assert_eq!(stage.pod_counts("team-a").await?, PodCounts::running(team_a));
    assert_eq!(stage.pod_counts("team-b").await?, PodCounts::running(team_b));
    Ok(())
}
