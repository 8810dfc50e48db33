//! A full cluster: nodes, teams with a Queue each, and pods that run.

use std::fmt;
use std::pin::pin;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

use super::pods;
use crate::bench::speed::{ClusterLayout, NodeGroup, QueueAt};
use crate::demo::Narrator;
use crate::quotient::Stage;
use crate::testbed::eventually;

/// How many requests are under way at once. The client speaks HTTP/1.1: each has a connection of its own.
const CONNECTIONS: usize = 32;
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(5);
/// How long the last pod may take to run, after all have been posted: 100 pods a second were seen on two cores.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Between two looks at all pods, which cost the API server something.
const PAUSE: Duration = Duration::from_secs(3);

/// How large the cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterSize {
    /// Nodes that the pods just fill.
    pub nodes: u32,
    /// Namespaces with a Queue each, all of the same weight.
    pub queues: u32,
    /// Pods of 1 cpu and 4Gi, as many in each namespace.
    pub pods: u32,
}

impl ClusterSize {
    /// Whether every team then holds no more than its share, and every pod has its place on a node.
    pub fn check(self) -> anyhow::Result<()> {
        ensure!(
            self.nodes > 0 && self.queues > 0 && self.pods > 0,
            "nodes, queues and pods: at least one of each"
        );
        let even = self.pods.is_multiple_of(self.queues);
        ensure!(even, "{} pods cannot be divided evenly among {} queues", self.pods, self.queues);
        let room = self.nodes.saturating_mul(NodeGroup::PODS);
        ensure!(self.pods <= room, "{} nodes have room for {room} pods, not for {}", self.nodes, self.pods);
        Ok(())
    }

    /// Whole cpus of a node, and four times as many GiB of memory.
    pub(super) const fn node_cpu(self) -> u32 {
        self.pods.div_ceil(self.nodes)
    }
}

impl fmt::Display for ClusterSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} pods, {} queues, {} nodes", self.pods, self.queues, self.nodes)
    }
}

impl FromStr for ClusterSize {
    type Err = anyhow::Error;

    /// `pods/queues/nodes`.
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parts: Vec<u32> = text
            .split('/')
            .map(|part| part.parse().with_context(|| format!("{part} is no whole number")))
            .collect::<anyhow::Result<_>>()?;
        let &[pods, queues, nodes] = parts.as_slice() else {
            bail!("{text} is not of the form PODS/QUEUES/NODES, such as 20000/1000/1000");
        };
        let size = Self { nodes, queues, pods };
        size.check()?;
        Ok(size)
    }
}

/// Fills a test bed on which the CRDs are served, and says how it goes; ends when every pod runs.
pub async fn fill(stage: &Stage, size: ClusterSize, narrator: &Narrator) -> anyhow::Result<()> {
    let begun = Instant::now();
    let cpu = size.node_cpu();
    // A Queue without a spec asks for whatever it can get: an even share of the cluster.
    let queues = (0..size.queues).map(|team| QueueAt::of(pods::namespace_of(team), json!({})));
    let nodes = NodeGroup { count: size.nodes, cpu, memory: cpu.saturating_mul(4) };
    ClusterLayout { nodes: vec![nodes], queues: queues.collect(), ..ClusterLayout::default() }
        .lay(stage)
        .await?;
    let (nodes, queues) = (size.nodes, size.queues);
    narrator.done(&format!("{nodes} nodes of {cpu} cpu are Ready, {queues} namespaces have a Queue"), begun);

    let begun = Instant::now();
    let client = stage.bed.client();
    create_pods(&client, size, narrator).await?;
    until_pods_run(client).await?;
    narrator.done(&format!("{} pods of 1 cpu and 4Gi run", size.pods), begun);
    Ok(())
}

/// Creates the pods over many connections, and shows now and then how many there are.
async fn create_pods(client: &Client, size: ClusterSize, narrator: &Narrator) -> anyhow::Result<()> {
    let create = async |number: u32| {
        let pod = pods::pod(size, number);
        let pods: Api<Pod> =
            Api::namespaced(client.clone(), pod.metadata.namespace.as_deref().unwrap_or_default());
        pods.create(&PostParams::default(), &pod).await.with_context(|| format!("creating pod {number}"))
    };
    let mut created = pin!(stream::iter(0..size.pods).map(create).buffer_unordered(CONNECTIONS));
    let (mut count, mut reported) = (0_u32, Instant::now());
    while created.try_next().await?.is_some() {
        count = count.saturating_add(1);
        if reported.elapsed() >= PROGRESS {
            reported = Instant::now();
            narrator.line(&format!("     {count} of {} pods", size.pods));
        }
    }
    Ok(())
}

async fn until_pods_run(client: Client) -> anyhow::Result<()> {
    let pods: Api<Pod> = Api::all(client);
    let waiting = ListParams::default().fields("status.phase!=Running");
    eventually("all pods run", PATIENCE, async || {
        tokio::time::sleep(PAUSE).await;
        let waiting = pods.list_metadata(&waiting).await?.items.len();
        ensure!(waiting == 0, "{waiting} do not");
        Ok(())
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_never_holds_more_than_its_share() {
        let check = |text: &str| {
            text.parse::<ClusterSize>().map_or_else(|error| error.to_string(), |size| size.to_string())
        };
        assert_eq!(check("20000/100/1000"), "20000 pods, 100 queues, 1000 nodes");
        assert_eq!(check("20050/100/1000"), "20050 pods cannot be divided evenly among 100 queues");
        assert_eq!(check("20000/100/50"), "50 nodes have room for 12500 pods, not for 20000");
        assert_eq!(check("10/0/10"), "nodes, queues and pods: at least one of each");
        assert_eq!(check("10/2"), "10/2 is not of the form PODS/QUEUES/NODES, such as 20000/1000/1000");
        assert_eq!(check("10/two/3"), "two is no whole number");
    }
}
