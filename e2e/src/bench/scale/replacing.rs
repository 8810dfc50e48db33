//! Pods that are replaced by others, one after the other, as where something is always being rolled out.

use std::time::Duration;

use anyhow::Context as _;
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};

use crate::testbed::eventually;

/// Between two of them: ten a second.
const PACE: Duration = Duration::from_millis(100);
/// How long admission may take to notice that there is room where a pod was.
const PATIENCE: Duration = Duration::from_secs(120);

/// Replaces these pods, each by one with the same spec and labels.
pub(in crate::bench) async fn replace_pods(
    client: &Client,
    pods: impl Iterator<Item = Pod>,
) -> anyhow::Result<()> {
    let replaced = (0..).zip(pods).map(|(number, pod)| async move {
        tokio::time::sleep(PACE.saturating_mul(number)).await;
        replace(client.clone(), pod).await
    });
    try_join_all(replaced).await.map(drop)
}

async fn replace(client: Client, mut pod: Pod) -> anyhow::Result<()> {
    let namespace = pod.metadata.namespace.clone().unwrap_or_default();
    let name = pod.metadata.name.take().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(client, &namespace);
    pods.delete(&name, &DeleteParams::default()).await.with_context(|| format!("deleting {name}"))?;
    pod.metadata.name = Some(format!("{name}-next"));
    eventually(format!("{namespace} has room where {name} was"), PATIENCE, async || {
        pods.create(&PostParams::default(), &pod).await.map(drop)
    })
    .await
}
