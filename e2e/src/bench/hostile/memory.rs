//! The most memory that the operator takes where tenants try to exhaust it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::ensure;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use quotient_crds::QueueJob;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::create;
use crate::bench::ProcessNumbers;
use crate::bench::scale::first_cycle;
use crate::demo::Narrator;
use crate::quotient::{Operator, Stage};

/// The most memory that it may take, in kibibytes: the limit of the chart.
pub const MOST_MEMORY: u64 = 512 * 1024;
/// How many connections this side keeps open, for each is a file: the operator has closed the oldest long before.
const OPEN: usize = 15_000;
/// How large a large pod is, in bytes.
const LARGE: usize = 1_000_000;

/// How many pods of one megabyte there are.
pub const LARGE_PODS: usize = 120;
/// How many QueueJobs never fit.
pub const QUEUE_JOBS: usize = 100_000;
/// How many connections stay idle.
pub const CONNECTIONS: usize = 20_000;

/// Fills a cluster, starts the operator and opens connections. Returns the most memory that it took, in kibibytes.
pub async fn memory(stage: &Stage, narrator: &Narrator) -> anyhow::Result<u64> {
    let begun = Instant::now();
    stage.bed.add_node("node-1", &[("cpu", "8"), ("memory", "16Gi")]).await?;
    for team in ["large", "jobs"] {
        stage.queue(team, json!({"weight": 1})).await?;
    }
    let client = || stage.bed.client();
    let jobs: Api<QueueJob> = Api::namespaced(client(), "jobs");
    create(&jobs, (0..QUEUE_JOBS).map(never_fits)).await?;
    let pods: Api<Pod> = Api::namespaced(client(), "large");
    create(&pods, (0..LARGE_PODS).map(large)).await?;
    narrator.done("the cluster is full", begun);

    let begun = Instant::now();
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &[]).await?;
    first_cycle(&operator, begun).await?;
    let pid = operator.process().pid();
    narrator.done(&format!("the first cycle has ended: {}", ProcessNumbers::of(pid)?.memory), begun);
    let mut idle = VecDeque::new();
    for _ in 0..CONNECTIONS {
        if idle.len() == OPEN {
            idle.pop_front();
        }
        idle.push_back(TcpStream::connect(operator.metrics()).await?);
    }
    narrator.done(&format!("the connections are open: {}", ProcessNumbers::of(pid)?.memory), begun);
    // Statuses are written, and every pod is listed once more when its watch begins anew.
    tokio::time::sleep(Duration::from_secs(120)).await;
    let (code, _) = operator.get("/metrics").await?;
    ensure!(code == 200, "metrics are not served beside idle connections");
    let numbers = ProcessNumbers::of(pid)?;
    narrator.done(&format!("two minutes later: {}", numbers.memory), begun);
    drop(idle);
    operator.stop().await?;
    Ok(numbers.memory.peak)
}

fn large(at: usize) -> Value {
    json!({
        "metadata": {"name": format!("large-{at}")},
        "spec": {"containers": [{
            "name": "main", "image": "main", "args": ["x".repeat(LARGE)],
            "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}},
        }]},
    })
}

/// A QueueJob that is larger than the cluster.
fn never_fits(at: usize) -> Value {
    let container = json!({
        "name": "main", "image": "main", "resources": {"requests": {"cpu": "1k", "memory": "1Gi"}},
    });
    json!({
        "apiVersion": "quotient.dev/v1alpha1", "kind": "QueueJob",
        "metadata": {"name": format!("job-{at}")},
        "spec": {
            "minAvailable": 1,
            "tasks": [{
                "name": "main", "replicas": 1,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            }],
        },
    })
}
