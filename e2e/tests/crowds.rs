//! A tenant with thousands of autoscalers and workloads, and with pods that request thousands of resources: the operator
//! starts and decides for others as if they were not there.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use quotient_e2e::quotient::{Operator, PodCounts, Stage};
use quotient_invariants::Tolerance;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// How many autoscalers there are, and as many ReplicaSets.
const MANY: usize = 1_500;

/// How many resources a wide pod requests; its object is nearly as large as one may be.
const WIDE: usize = 12_000;

/// Creates all of these at the pace of the API server.
async fn create<K>(all: &Api<K>, objects: impl Iterator<Item = Value>) -> Result<()>
where
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let create = async |object: Value| -> Result<()> {
        all.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
        Ok(())
    };
    stream::iter(objects).map(create).buffer_unordered(32).try_collect().await
}

/// A ReplicaSet that was lowered to no pods, so that it is kept in mind and nothing starts.
fn resting(at: usize) -> Value {
    json!({
        "metadata": {
            "name": format!("rs-{at}"),
            "annotations": {"quotient.dev/replicas-before": "1", "quotient.dev/replicas-lowered-to": "0"},
        },
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": format!("rs-{at}")}},
            "template": {
                "metadata": {"labels": {"app": format!("rs-{at}")}},
                "spec": {"containers": [{"name": "main", "image": "main"}]},
            },
        },
    })
}

fn autoscaler(at: usize) -> Value {
    let target = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("rs-{at}")});
    json!({"metadata": {"name": format!("rs-{at}")}, "spec": {"maxReplicas": 2, "scaleTargetRef": target}})
}

/// A pod that no scheduler looks at and that requests resources that it has made up.
fn wide(at: usize) -> Value {
    let invented = (0..WIDE).map(|name| (format!("x.io/{at}-{name}"), json!("1")));
    let amounts: Map<String, Value> = [("cpu".to_owned(), json!("1")), ("memory".to_owned(), json!("1Gi"))]
        .into_iter()
        .chain(invented)
        .collect();
    json!({
        "metadata": {"name": format!("wide-{at}")},
        "spec": {
            "schedulerName": "none",
            "containers": [{"name": "main", "image": "main", "resources": {"requests": amounts, "limits": amounts}}],
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn crowds_of_one_tenant_keep_nobody_waiting() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    for team in ["crowd", "team"] {
        stage.claim(team, json!({"weight": 1})).await?;
    }
    stage.bed.create_namespace("resting").await?;
    let client = || stage.bed.client();
    create(&Api::<ReplicaSet>::namespaced(client(), "resting"), (0..MANY).map(resting)).await?;
    create(&Api::<HorizontalPodAutoscaler>::namespaced(client(), "resting"), (0..MANY).map(autoscaler))
        .await?;
    // Before the quota is there, which would count them.
    create(&Api::<Pod>::namespaced(client(), "crowd"), (0..2).map(wide)).await?;

    let begin = Instant::now();
    let operator: Operator = stage.start_operator().await?;
    stage.until_allowed("team", "cpu 4, memory 8Gi").await?;
    let started = begin.elapsed();
    ensure!(started < Duration::from_secs(45), "the operator took {started:?} to decide");

    // And goes on as fast.
    let begin = Instant::now();
    stage.deployment("team", "web", 4, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    create(&Api::<Pod>::namespaced(client(), "crowd"), (2..4).map(wide)).await?;
    stage.until_pods("team", PodCounts::running(4)).await?;
    let ran = begin.elapsed();
    ensure!(ran < Duration::from_secs(45), "four pods took {ran:?} to run");
    let log = operator.process().log();
    ensure!(!log.contains("panicked"), "the operator:\n{log}");
    operator.process().must_run()?;
    operator.stop().await?;
    stage.end(Tolerance::default()).await
}
