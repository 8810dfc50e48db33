//! A full cluster: nodes, teams with a Queue each, and pods that run.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use quotient_crds::Queue;
use serde_json::json;

use super::crowd::{PROGRESS, post};
use super::pods;
use crate::demo::Narrator;
use crate::testbed::{TestBed, eventually, objects};

/// How many pods a node may have at most.
const PODS_PER_NODE: u32 = 250;
/// How long the last node may take to be Ready and the last pod to run, after all have been posted: 100 pods a second were
/// seen on two cores.
const PATIENCE: Duration = Duration::from_secs(1800);
/// Between two looks at all nodes.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two looks at all pods, which cost the API server something.
const LONG_PAUSE: Duration = Duration::from_secs(3);

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
        let room = self.nodes.saturating_mul(PODS_PER_NODE);
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
pub async fn fill(bed: &TestBed, size: ClusterSize, narrator: &Narrator) -> anyhow::Result<()> {
    let begun = Instant::now();
    let cpu = size.node_cpu();
    post("nodes", size.nodes, narrator, bed.client(), move |client, number| add_node(client, cpu, number))
        .await?;
    until_nodes_are_ready(bed.client()).await?;
    narrator.done(&format!("{} nodes of {cpu} cpu are Ready", size.nodes), begun);

    let begun = Instant::now();
    for team in 0..size.queues {
        add_team(bed, &pods::namespace_of(team)).await?;
    }
    narrator.done(&format!("{} namespaces have a Queue each", size.queues), begun);

    let begun = Instant::now();
    post("pods", size.pods, narrator, bed.client(), move |client, number| add_pod(client, size, number))
        .await?;
    until_pods_run(bed.client(), narrator).await?;
    narrator.done(&format!("{} pods of 1 cpu and 4Gi run", size.pods), begun);
    Ok(())
}

async fn add_node(client: Client, cpu: u32, number: u32) -> anyhow::Result<()> {
    let (cpu, memory) = (cpu.to_string(), format!("{}Gi", cpu.saturating_mul(4)));
    let pods = PODS_PER_NODE.to_string();
    let allocatable = [("cpu", cpu.as_str()), ("memory", &memory), ("pods", &pods)];
    let node = objects::node(&pods::node_name(number), &allocatable);
    Api::all(client).create(&PostParams::default(), &node).await?;
    Ok(())
}

async fn add_team(bed: &TestBed, namespace: &str) -> anyhow::Result<()> {
    bed.create_namespace(namespace).await?;
    let queue: Queue = serde_json::from_value(json!({
        "apiVersion": "quotient.dev/v1alpha1",
        "kind": "Queue",
        "metadata": {"namespace": namespace, "name": namespace},
        // Asks for whatever it can get: an even share of the cluster.
        "spec": {},
    }))?;
    let queues: Api<Queue> = Api::namespaced(bed.client(), namespace);
    let created = queues.create(&PostParams::default(), &queue).await;
    created.with_context(|| format!("creating Queue {namespace}/{namespace}"))?;
    Ok(())
}

async fn add_pod(client: Client, size: ClusterSize, number: u32) -> anyhow::Result<()> {
    let pod = pods::pod(size, number);
    let namespace = pod.metadata.namespace.clone().unwrap_or_default();
    Api::namespaced(client, &namespace).create(&PostParams::default(), &pod).await?;
    Ok(())
}

/// Ready, and no longer tainted as every new node is.
async fn until_nodes_are_ready(client: Client) -> anyhow::Result<()> {
    let nodes: Api<Node> = Api::all(client);
    eventually("all nodes are Ready", PATIENCE, async || {
        tokio::time::sleep(PAUSE).await;
        let list = nodes.list(&ListParams::default()).await?;
        let waiting = list.items.iter().filter(|node| !is_ready(node)).count();
        ensure!(waiting == 0, "{waiting} are not");
        Ok(())
    })
    .await?;
    Ok(())
}

fn is_ready(node: &Node) -> bool {
    let tainted =
        node.spec.as_ref().is_some_and(|spec| spec.taints.as_ref().is_some_and(|taints| !taints.is_empty()));
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    !tainted && conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

async fn until_pods_run(client: Client, narrator: &Narrator) -> anyhow::Result<()> {
    let pods: Api<Pod> = Api::all(client);
    let waiting = ListParams::default().fields("status.phase!=Running");
    let mut told = Instant::now();
    eventually("all pods run", PATIENCE, async || {
        tokio::time::sleep(LONG_PAUSE).await;
        let waiting = pods.list_metadata(&waiting).await?.items.len();
        if waiting > 0 && told.elapsed() >= PROGRESS {
            told = Instant::now();
            narrator.line(&format!("     {waiting} pods do not run yet"));
        }
        ensure!(waiting == 0, "{waiting} do not");
        Ok(())
    })
    .await?;
    Ok(())
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
