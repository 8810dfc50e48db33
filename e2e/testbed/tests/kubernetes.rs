//! What Quotient relies on, and no other test on a control plane would miss.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, EvictParams, PostParams};
use quotient_testbed::{Options, TestBed, annotations, eventually, objects};

const PATIENCE: Duration = Duration::from_secs(20);

/// What tells victims from pods that others let go: the API server marks every pod that it evicts, one that never ran, too.
#[tokio::test(flavor = "multi_thread")]
async fn evicted_pods_are_marked_and_deleted_ones_are_not() -> Result<()> {
    let bed = TestBed::start(Options::default()).await?;
    bed.add_node("node-1", &[("cpu", "6"), ("memory", "15Gi")]).await?;
    let pods: Api<Pod> = Api::namespaced(bed.client(), "default");
    for (name, held) in [
        ("runs", &[annotations::HOLD_TERMINATION][..]),
        ("never-ran", &[annotations::HOLD_START, annotations::HOLD_TERMINATION]),
        ("deleted", &[annotations::HOLD_TERMINATION]),
    ] {
        let mut pod = objects::pod("default", name, &[("cpu", "100m")]);
        let held = held.iter().map(|annotation| ((*annotation).to_owned(), "true".to_owned()));
        pod.metadata.annotations = Some(held.collect());
        pods.create(&PostParams::default(), &pod).await?;
    }
    for name in ["runs", "deleted"] {
        bed.wait_until_running("default", name).await?;
    }
    eventually("the pod that does not start is bound", PATIENCE, async || {
        let spec = pods.get("never-ran").await?.spec.unwrap_or_default();
        ensure!(spec.node_name.is_some(), "it is not bound");
        Ok(())
    })
    .await?;
    for name in ["never-ran", "runs"] {
        pods.evict(name, &EvictParams::default()).await?;
    }
    pods.delete("deleted", &DeleteParams::default()).await?;
    for (name, marked) in [("runs", true), ("never-ran", true), ("deleted", false)] {
        let pod = pods.get(name).await?;
        ensure!(pod.metadata.deletion_timestamp.is_some(), "{name} stays");
        let conditions = pod.status.and_then(|status| status.conditions).unwrap_or_default();
        let mark = conditions.iter().find(|condition| condition.type_ == "DisruptionTarget");
        let reason = mark.and_then(|condition| condition.reason.as_deref());
        assert_eq!(reason, marked.then_some("EvictionByEvictionAPI"), "{name}");
    }
    bed.stop().await
}
