//! What becomes of pods while Gate mode begins, pauses, loses its policies, or is uninstalled.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::admissionregistration::v1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding};
use kube::Api;
use kube::api::DeleteParams;
use quotient_crds::{ConditionType, Queue};
use quotient_e2e::quotient::{GATE_MODE, Operator, PATIENCE, PodCounts, Stage, upgrade_chart};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::json;

use crate::gate::{
    create, end, gated, gated_queue, gated_stage, is_gated, running, until_none_is_gated, until_quota,
    waiting,
};

const POLICY: &str = "quotient-gates";

#[tokio::test(flavor = "multi_thread")]
async fn modes_and_policies_come_and_go() -> Result<()> {
    let (stage, operator) = gated_stage(&[("node-1", "2", "64Gi")]).await?;
    from_quota_to_gate_and_back_no_pod_is_evicted_and_none_stays_gated(&stage).await?;
    stage.clear("team").await?;
    stage.bed.add_node("node-2", &[("cpu", "2"), ("memory", "64Gi")]).await?;
    without_its_policy_pods_come_in_on_loan(&stage).await?;
    stage.end(operator).await
}

/// A Deployment of three on room for two: the third pod is rejected, then gated, then let in, and no running pod is touched. Nor
/// is any when the Queue is deleted.
async fn from_quota_to_gate_and_back_no_pod_is_evicted_and_none_stays_gated(stage: &Stage) -> Result<()> {
    // The quota has its size before the pods come: while it rises, Kubernetes may count anew without the newest of them.
    stage.queue("team", json!({"request": {"cpu": "2", "memory": "8Gi"}})).await?;
    until_quota(stage, "team", true).await?;
    stage.until_quiet_for(Duration::from_secs(1)).await?;
    stage.deployment("team", "web", 3, objects::one_cpu(), false).await?;
    stage.until_pods("team", PodCounts::running(2)).await?;
    stage.until_quiet_for(Duration::from_secs(1)).await?;
    let (first, mark) = (running(stage, "team").await?, stage.bed.audit().mark()?);

    stage.patch_queue("team", "team", json!({"admission": "Gate"})).await?;
    stage.until_gating("team").await?;
    until_quota(stage, "team", false).await?;
    // The controller of the rejected pod does not wait for its back-off to end.
    stage.until_pods("team", waiting(2, 1)).await?;
    create(stage, "team", ["bare".to_owned()]).await?;
    ensure!(gated(stage, "team").await?.contains("bare"));

    stage.patch_queue("team", "team", json!({"admission": "Quota"})).await?;
    until_none_is_gated(stage, "team").await?;
    until_quota(stage, "team", true).await?;
    stage.until_quiet_for(Duration::from_secs(2)).await?;
    stage.until_pods("team", waiting(2, 2)).await?;
    ensure!(running(stage, "team").await? == first);

    // Without the Queue there is no share to wait for.
    stage.patch_queue("team", "team", json!({"admission": "Gate"})).await?;
    until_quota(stage, "team", false).await?;
    stage.until_gating("team").await?;
    create(stage, "team", ["late".to_owned()]).await?;
    ensure!(gated(stage, "team").await? == ["late".to_owned()].into());
    let queues = stage.api::<Queue>("team");
    queues.delete("team", &DeleteParams::default()).await?;
    until_none_is_gated(stage, "team").await?;
    stage.until_quiet_for(Duration::from_secs(1)).await?;
    ensure!(running(stage, "team").await? == first);
    ensure!(stage.evicted(mark)?.is_empty());
    Ok(())
}

/// Two queues on four cpus. Without the policy pods come in ungated. They are on loan: another queue gets its share back all the
/// same.
async fn without_its_policy_pods_come_in_on_loan(stage: &Stage) -> Result<()> {
    for team in ["a", "b"] {
        gated_queue(stage, team, json!({})).await?;
    }
    create(stage, "a", ["a-0".to_owned(), "a-1".to_owned()]).await?;
    stage.until_pods("a", PodCounts::running(2)).await?;
    let client = stage.bed.client();
    let now = DeleteParams::default();
    Api::<MutatingAdmissionPolicyBinding>::all(client.clone()).delete(POLICY, &now).await?;
    Api::<MutatingAdmissionPolicy>::all(client).delete(POLICY, &now).await?;
    eventually("pods are not gated", PATIENCE, async || {
        create(stage, "a", ["try".to_owned()]).await?;
        let pods = stage.pods("a").await?;
        end(stage, "a", "try").await?;
        ensure!(!pods.iter().any(is_gated), "they are");
        Ok(())
    })
    .await?;
    create(stage, "a", ["more-0".to_owned(), "more-1".to_owned()]).await?;
    stage.until_pods("a", PodCounts::running(4)).await?;
    create(stage, "b", ["late-0".to_owned(), "late-1".to_owned()]).await?;
    stage.until_pods("b", PodCounts::running(2)).await?;
    stage.until_pods("a", PodCounts::running(2)).await?;

    // With the policy again the next pod waits.
    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    stage.until_gating("a").await?;
    create(stage, "a", ["late".to_owned()]).await?;
    stage.until_pods("a", waiting(2, 1)).await?;
    ensure!(gated(stage, "a").await? == ["late".to_owned()].into());
    // Its status is written at leisure.
    stage.until_quiet_for(Duration::from_secs(1)).await
}

/// A queue that asks for gates where there are none is told so, and has a quota. With gates, and then uninstalled with gated
/// pods: they wait, running pods are untouched, the check names them before, and `release` lets them in
/// although nothing of Quotient runs any more.
#[tokio::test(flavor = "multi_thread")]
async fn without_gates_a_queue_is_told_so_and_gated_pods_wait_until_they_are_released() -> Result<()> {
    let stage = Stage::set(&[("node-1", "2", "64Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("team", json!({"admission": "Gate"})).await?;
    stage.until_condition("team", ConditionType::Ready, ("False", "GateModeNotServed")).await?;
    stage.until_allowed("team", "cpu 1, memory 8Gi").await?;
    operator.stop().await?;

    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    let operator = Operator::start_as_installed(&stage.bed, &stage.programs.operator).await?;
    stage.until_gating("team").await?;
    until_quota(&stage, "team", false).await?;
    create(&stage, "team", (0..3).map(|number| format!("p-{number}"))).await?;
    stage.until_pods("team", waiting(2, 1)).await?;
    let first = running(&stage, "team").await?;
    let run = async |words: &[&str]| -> Result<(bool, String)> {
        let asked = stage.command_line(words).await?;
        Ok((asked.status.success(), String::from_utf8_lossy(&asked.stdout).into_owned()))
    };
    let (is_clean, printed) = run(&["uninstall", "--check"]).await?;
    ensure!(!is_clean && printed.contains("1 gated pod of team would wait for ever"), "{printed}");

    // Of the release, the policies and the operator go; the kinds stay, as Helm leaves them.
    operator.stop().await?;
    let policies = [
        "delete",
        "mutatingadmissionpolicies,mutatingadmissionpolicybindings,validatingadmissionpolicies,validatingadmissionpolicybindings",
        "-l",
        "app.kubernetes.io/name=quotient",
    ];
    stage.bed.kubectl(policies).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    stage.until_pods("team", waiting(2, 1)).await?;
    ensure!(gated(&stage, "team").await?.len() == 1 && running(&stage, "team").await? == first);
    let (is_done, printed) = run(&["release", "team"]).await?;
    ensure!(is_done, "{printed}");
    until_none_is_gated(&stage, "team").await?;
    ensure!(running(&stage, "team").await? == first);
    let (is_clean, printed) = run(&["uninstall", "--check"]).await?;
    ensure!(is_clean, "{printed}");
    // The invariant checker takes every Queue that asks for gates for one that has them.
    stage.bed.stop().await
}
