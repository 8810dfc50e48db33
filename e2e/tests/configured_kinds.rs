//! Workloads of other operators are demand before their pods exist.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage, installed, upgrade_chart};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::{Value, json};

/// The two kinds as a user configures them.
const VALUES: [&str; 12] = [
    "config.workloadKinds[0].group=example.org",
    "config.workloadKinds[0].version=v1",
    "config.workloadKinds[0].kind=Fleet",
    "config.workloadKinds[0].plural=fleets",
    "config.workloadKinds[0].replicasPath=spec.size",
    "config.workloadKinds[0].templatePath=spec.template",
    "config.workloadKinds[1].group=herds.example.org",
    "config.workloadKinds[1].version=v1alpha1",
    "config.workloadKinds[1].kind=Herd",
    "config.workloadKinds[1].plural=jobs",
    "config.workloadKinds[1].replicasPath=spec.groups[*].replicas",
    "config.workloadKinds[1].templatePath=spec.groups[*].template",
];

fn template(memory: &str) -> Value {
    objects::template("lab", &json!({"cpu": "1", "memory": memory}))
}

/// Creates a pod as the controller of an object would.
async fn create_pod(
    stage: &Stage,
    (version, kind, plural, owner): (&str, &str, &str, &str),
    memory: &str,
) -> Result<()> {
    let uid = ["get", plural, owner, "--namespace=lab", "-o=jsonpath={.metadata.uid}"];
    let uid = stage.bed.kubectl(uid).await?;
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {
            "generateName": format!("{owner}-"),
            "namespace": "lab",
            "ownerReferences": [{"apiVersion": version, "kind": kind, "name": owner, "uid": uid, "controller": true}],
        },
        "spec": template(memory)["spec"],
    }))?;
    let pods = stage.api::<Pod>("lab");
    pods.create(&PostParams::default(), &pod).await?;
    Ok(())
}

async fn demand(stage: &Stage) -> Result<String> {
    let status = stage.queue_status("lab").await?;
    Ok(serde_json::to_value(&status.demand)?["cpu"].as_str().unwrap_or_default().to_owned())
}

/// Kinds that the API serves only later, one of them with the plural of a kind that Quotient watches anyway: their objects get
/// the share of pods that do not exist, then the pods start and count once. An object that cannot be read stops nothing.
#[tokio::test(flavor = "multi_thread")]
async fn configured_kinds_are_demand_before_their_pods_exist() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    upgrade_chart(&stage.bed, &VALUES).await?;
    let (_, arguments) = installed(&stage.bed).await?;
    let setting = arguments.iter().find(|argument| argument.starts_with("--workload-kinds="));
    let setting = setting.context("the chart does not set --workload-kinds")?;
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &[setting]).await?;
    stage.claim("busy", json!({})).await?;
    stage.until_allowed("busy", "cpu 8, memory 16Gi").await?;
    stage.deployment("busy", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("busy", PodCounts::running(8)).await?;
    stage.queue("lab", json!({})).await?;

    let definitions = [
        objects::custom_kind("example.org", "v1", "Fleet", "fleets"),
        objects::custom_kind("herds.example.org", "v1alpha1", "Herd", "jobs"),
    ];
    stage.apply(&objects::list(definitions)).await?;
    for plural in ["fleets.example.org", "jobs.herds.example.org"] {
        eventually(format!("{plural} are served"), PATIENCE, async || {
            stage.bed.kubectl(["get", plural, "--all-namespaces"]).await.map(drop)
        })
        .await?;
    }
    let object = |version: &str, kind: &str, name: &str, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "lab"}, "spec": spec});
    let groups = json!([
        {"replicas": 1, "template": template("2Gi")},
        {"replicas": 1, "template": template("3Gi")},
    ]);
    let objects = [
        object("example.org/v1", "Fleet", "odd", json!({"size": "many"})),
        object("example.org/v1", "Fleet", "fleet", json!({"size": 2, "template": template("1Gi")})),
        object("herds.example.org/v1alpha1", "Herd", "herd", json!({"groups": groups})),
    ];
    stage.apply(&objects::list(objects)).await?;

    stage.until_pods("busy", PodCounts::running(4)).await?;
    stage.until_cpu("lab", "4").await?;
    ensure!(demand(&stage).await? == "4", "{}", demand(&stage).await?);
    let fleet = ("example.org/v1", "Fleet", "fleets.example.org", "fleet");
    let herd = ("herds.example.org/v1alpha1", "Herd", "jobs.herds.example.org", "herd");
    for (owner, memory) in [(fleet, "1Gi"), (fleet, "1Gi"), (herd, "2Gi"), (herd, "3Gi")] {
        create_pod(&stage, owner, memory).await?;
    }
    stage.until_pods("lab", PodCounts::running(4)).await?;
    stage.until_quiet_for(std::time::Duration::from_secs(5)).await?;
    ensure!(demand(&stage).await? == "4", "{}", demand(&stage).await?);
    stage.until_pods("busy", PodCounts::running(4)).await?;
    stage.end(operator).await
}
