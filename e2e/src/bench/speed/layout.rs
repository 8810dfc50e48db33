//! What a scenario begins with: nodes, queues and what runs in them.

use std::time::Duration;

use anyhow::ensure;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::Value;

use super::Work;
use crate::quotient::Stage;
use crate::testbed::{TestBed, eventually, objects};

/// How long everything may take to run before the scenario begins.
const PATIENCE: Duration = Duration::from_secs(600);
/// Between two looks at all pods.
const PAUSE: Duration = Duration::from_millis(500);

/// What is there before the first request.
#[derive(Clone, Debug, Default)]
pub struct ClusterLayout {
    /// Whose sum is the capacity.
    pub nodes: Vec<NodeGroup>,
    /// One in each namespace.
    pub queues: Vec<QueueAt>,
    /// Runs before the demand.
    pub work: Vec<Work>,
    /// How long a deleted pod keeps running.
    pub terminates_after: Duration,
}

/// Nodes that are all alike.
#[derive(Clone, Copy, Debug)]
pub struct NodeGroup {
    /// How many.
    pub count: u32,
    /// Whole cpus of each.
    pub cpu: u32,
    /// GiB of memory of each.
    pub memory: u32,
}

/// A Queue, in a namespace of the same name.
#[derive(Clone, Debug)]
pub struct QueueAt {
    /// Both names.
    pub name: String,
    /// Its spec.
    pub spec: Value,
}

impl QueueAt {
    /// A Queue with this spec.
    pub fn of(name: impl Into<String>, spec: Value) -> Self {
        Self { name: name.into(), spec }
    }
}

impl NodeGroup {
    /// How many pods a node may have at most.
    pub(in crate::bench) const PODS: u32 = 250;

    /// What the nodes are called, by number.
    pub(in crate::bench) fn name(number: u32) -> String {
        format!("node-{number:04}")
    }

    async fn add(self, bed: &TestBed, number: u32) -> anyhow::Result<()> {
        let (cpu, memory, pods) =
            (self.cpu.to_string(), format!("{}Gi", self.memory), Self::PODS.to_string());
        let node = objects::node(&Self::name(number), &[("cpu", &cpu), ("memory", &memory), ("pods", &pods)]);
        Api::all(bed.client()).create(&PostParams::default(), &node).await?;
        Ok(())
    }
}

impl ClusterLayout {
    /// So many cpus, on nodes of ten.
    pub fn of_cpus(cpus: u32) -> Self {
        Self { nodes: vec![NodeGroup { count: cpus.div_ceil(10), cpu: 10, memory: 10 }], ..Self::default() }
    }

    /// Makes nodes and namespaces with their Queues.
    pub async fn lay(&self, stage: &Stage) -> anyhow::Result<()> {
        let mut number: u32 = 0;
        for group in &self.nodes {
            for _ in 0..group.count {
                group.add(&stage.bed, number).await?;
                number = number.saturating_add(1);
            }
        }
        stage.bed.wait_until_usable().await?;
        for queue in &self.queues {
            stage.queue(&queue.name, queue.spec.clone()).await?;
        }
        Ok(())
    }

    /// Creates the work, and waits until all of it runs.
    pub async fn fill(&self, bed: &TestBed) -> anyhow::Result<()> {
        for work in &self.work {
            work.create(&bed.client()).await?;
        }
        let wanted: usize = self.work.iter().map(|work| work.fits as usize).sum();
        let pods: Api<Pod> = Api::all(bed.client());
        let running = ListParams::default().fields("status.phase=Running");
        eventually(format!("{wanted} pods run"), PATIENCE, async || {
            tokio::time::sleep(PAUSE).await;
            let seen = pods.list_metadata(&running).await?.items.len();
            ensure!(seen == wanted, "{seen} do");
            Ok(())
        })
        .await
    }
}
