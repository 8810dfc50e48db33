//! S-PREEMPT's example as a story that can be played again and again: a third queue joins two, and leaves.

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::DeleteParams;
use serde_json::json;

use super::{PodCounts, Stage};
use crate::testbed::{AuditEvent, eventually};

/// What the two have while they are alone.
const ALONE: &str = "
    q1/q1: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing
    q2/q2: deserved cpu 6, memory 18Gi; allocated cpu 6, memory 18Gi; preempting nothing";

/// How long a namespace may take to go.
const GONE: Duration = Duration::from_secs(60);

/// Two queues that fill a cluster of 9 cpu, weights 2 and 4, and a third one of weight 3 that comes and goes.
///
/// When it comes, the one-cpu pods of `q1` and `q2` have to go for its three.
pub struct Newcomer<'a> {
    stage: &'a Stage,
}

impl<'a> Newcomer<'a> {
    /// The nodes that [`Stage::set`] needs for it.
    pub const NODES: [(&'static str, &'static str, &'static str); 1] = [("node-1", "9", "27Gi")];

    /// Lets the two queues fill the cluster; the operator runs. If `hold` says so, their pods stay Terminating until they are
    /// released.
    pub async fn prepare(stage: &'a Stage, hold: bool) -> anyhow::Result<Self> {
        stage.claim("q1", json!({"weight": 2})).await?;
        stage.claim("q2", json!({"weight": 4})).await?;
        stage.until_shares("the two queues share 1 to 2", ALONE).await?;
        // One replica each: all are last replicas, so that none is spared for it.
        for (namespace, name, cpu) in [
            ("q1", "large", 2),
            ("q1", "small", 1),
            ("q2", "large-1", 2),
            ("q2", "large-2", 2),
            ("q2", "small", 1),
        ] {
            let requests = json!({"cpu": cpu.to_string(), "memory": "1Gi"});
            stage.deployment(namespace, name, 1, requests, hold).await?;
        }
        let story = Self { stage };
        story.until_alone().await?;
        Ok(story)
    }

    /// The third queue comes, in a namespace of this name, and wants three pods.
    pub async fn join(&self, name: &str) -> anyhow::Result<()> {
        self.stage.claim(name, json!({"weight": 3})).await?;
        self.stage.deployment(name, "late", 3, json!({"cpu": "1", "memory": "1Gi"}), false).await
    }

    /// Waits until every queue has what it deserves, and runs it.
    pub async fn until_served(&self, name: &str) -> anyhow::Result<()> {
        let served = format!(
            "q1/q1: deserved cpu 2, memory 6Gi; allocated cpu 2, memory 6Gi; preempting nothing
             q2/q2: deserved cpu 4, memory 12Gi; allocated cpu 4, memory 12Gi; preempting nothing
             {name}/{name}: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing"
        );
        self.stage.until_shares(&format!("{name} has its share"), &served).await?;
        for (namespace, running) in [("q1", 1), ("q2", 2), (name, 3)] {
            self.stage.until_pods(namespace, PodCounts::running(running)).await?;
        }
        Ok(())
    }

    /// The third queue goes, with its namespace; waits until the two have all again.
    pub async fn leave(&self, name: &str) -> anyhow::Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.stage.bed.client());
        namespaces.delete(name, &DeleteParams::default()).await.context("deleting the namespace")?;
        eventually(format!("{name} is gone"), GONE, async || match namespaces.get_opt(name).await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err("it is there".to_owned()),
            Err(error) => Err(error.to_string()),
        })
        .await?;
        self.until_alone().await
    }

    async fn until_alone(&self) -> anyhow::Result<()> {
        self.stage.until_shares("the two queues share 1 to 2", ALONE).await?;
        self.stage.until_pods("q1", PodCounts::running(2)).await?;
        self.stage.until_pods("q2", PodCounts::running(3)).await
    }

    /// The pods that were evicted, by namespace and the Deployment's name, in order. More than one of each, or any other
    /// than `q1/small` and `q2/small`, is one too many.
    pub fn evicted(events: &[AuditEvent]) -> Vec<String> {
        let evictions = events.iter().filter(|event| event.is_about("pods/eviction") && event.succeeded());
        let mut pods: Vec<(&str, &str)> =
            evictions.map(|event| (event.namespace.as_str(), event.name.as_str())).collect();
        // Asking twice for the same pod evicts it once.
        pods.sort_unstable();
        pods.dedup();
        // A pod of a Deployment is called by it, its ReplicaSet's hash and its own.
        let deployment = |name: &str| name.rsplitn(3, '-').last().unwrap_or_default().to_owned();
        pods.into_iter().map(|(namespace, name)| format!("{namespace}/{}", deployment(name))).collect()
    }
}
