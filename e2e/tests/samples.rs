//! The sample Queues of every page, in namespaces whose pods fill the cluster: no pod goes.
//!
//! A reader who tries a sample has work that runs. Nothing lacks room, so nothing may be evicted for anything. A sample with a
//! `request` is a standing claim and does evict; only the pages that explain one may show it. `simulate` says what is evicted: it
//! decides as the operator does, and `examples.rs` shows that a cluster comes to rest where it ends.

mod pages;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use quotient_e2e::quotient::{Stage, workspace_root};
use quotient_e2e::testbed::objects;
use serde_json::{Map, Value, json};

use pages::{Page, pages};

/// The pages that show a claim, and why each of them does. Applied, each evicts pods.
const CLAIMS: [(&str, &str); 5] = [
    ("examples/newcomer", "a queue gets its share before its pods exist, and the README says so"),
    ("examples/two-queues", "shares of queues without a pod, by weight and request alone"),
    ("examples/tree", "a guarantee that is claimed, and a claim that a fence holds back"),
    ("examples/budget", "a claim that disruption budgets keep from one workload"),
    ("examples/overcommitted", "claims of the whole cluster, so that capacity alone decides the eviction"),
];

/// A namespace that no page names. It has a Queue, and uses more than all others: what a claim would take.
const NEIGHBOR: &str = "neighbor";
const NEIGHBORS_PODS: u32 = 16;

/// Pods of the namespaces of samples, in turn: below their share, at it, above it.
const PODS: [u32; 3] = [2, 6, 1];
const CPUS_OF_A_NODE: u32 = 10;

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_queue_evicts_no_pod_that_runs() -> Result<()> {
    let pages = pages(&workspace_root())?;
    let claims: BTreeSet<&str> = CLAIMS.iter().map(|(page, _)| *page).collect();
    let claiming: BTreeSet<&str> =
        pages.iter().filter(|(_, page)| page.claims()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(claiming, claims, "the pages whose samples have a `request` are the listed ones");

    let places: BTreeSet<String> = pages.values().flat_map(Page::places).collect();
    let mut work: BTreeMap<String, u32> = places.into_iter().zip(PODS.into_iter().cycle()).collect();
    work.insert(NEIGHBOR.to_owned(), NEIGHBORS_PODS);
    let namespaces: Vec<Value> = work.keys().map(|name| namespace_of(&pages, name)).collect();
    let cluster = [namespaces.clone(), full_nodes(&work)?].concat();
    let stage = Stage::set(&[]).await?;
    stage.apply(&objects::list(namespaces)).await?;
    for (name, page) in &pages {
        let dry_run = ["apply", "--server-side", "--validate=strict", "--dry-run=server", "-f", "-"];
        let sample = objects::list(page.queues.clone()).to_string();
        stage.bed.kubectl_with_input(dry_run, &sample).await.with_context(|| name.clone())?;
        let evicted = evicted(&stage, [cluster.as_slice(), &page.queues].concat()).await?;
        // In the same cluster a claim does evict: what stays for others does not stay for want of a victim.
        ensure!(evicted.is_empty() != page.claims(), "{name}: {evicted:?}");
        println!("{name}: {} queues, {} evictions", page.queues.len(), evicted.len());
    }
    stage.bed.stop().await
}

/// The pods that are evicted until nothing more happens.
async fn evicted(stage: &Stage, cluster: Vec<Value>) -> Result<Vec<Value>> {
    let file = stage.bed.directory().join("sample.json");
    tokio::fs::write(&file, objects::list(cluster).to_string()).await?;
    let simulation = stage.simulate(&file).await?;
    ensure!(simulation["stable"] == true, "the simulation does not end");
    let steps = simulation["steps"].as_array().context("there are no steps")?;
    let evictions = steps.iter().flat_map(|step| step["evictions"].as_array().into_iter().flatten());
    Ok(evictions.map(|eviction| eviction["pod"].clone()).collect())
}

/// So many running pods of one cpu in each namespace, of a ReplicaSet there, on nodes that they fill; and the neighbor's Queue.
fn full_nodes(work: &BTreeMap<String, u32>) -> Result<Vec<Value>> {
    let mut all = vec![json!({
        "apiVersion": "quotient.dev/v1alpha1", "kind": "Queue",
        "metadata": {"name": NEIGHBOR, "namespace": NEIGHBOR}, "spec": {},
    })];
    let total: u32 = work.values().sum();
    for (number, before) in (0..total).step_by(CPUS_OF_A_NODE as usize).enumerate() {
        let cpu = CPUS_OF_A_NODE.min(total - before);
        let amounts = [("cpu", cpu.to_string()), ("memory", format!("{cpu}Gi"))];
        let amounts = amounts.each_ref().map(|(name, amount)| (*name, amount.as_str()));
        all.push(with_kind("Node", &objects::node(&format!("node-{number}"), &amounts))?);
    }
    let mut nodes = (0..total).map(|number| format!("node-{}", number / CPUS_OF_A_NODE));
    for (namespace, pods) in work {
        let mut owner = objects::workload("ReplicaSet", namespace, "web", *pods, &objects::one_cpu());
        owner["metadata"]["uid"] = json!(namespace);
        for (number, node) in (0..*pods).zip(&mut nodes) {
            let pod = objects::pod(namespace, &format!("web-{number}"), &[("cpu", "1"), ("memory", "1Gi")]);
            let mut pod = with_kind("Pod", &pod)?;
            pod["metadata"]["ownerReferences"] = json!([
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": namespace, "controller": true},
            ]);
            pod["spec"]["nodeName"] = node.into();
            pod["status"] = json!({"phase": "Running"});
            all.push(pod);
        }
        all.push(owner);
    }
    Ok(all)
}

fn with_kind(kind: &str, object: &impl serde::Serialize) -> Result<Value> {
    let mut object = serde_json::to_value(object)?;
    (object["apiVersion"], object["kind"]) = ("v1".into(), kind.into());
    Ok(object)
}

/// A Namespace with the labels that any page shows on it.
fn namespace_of(pages: &BTreeMap<String, Page>, name: &str) -> Value {
    let shown = pages.values().flat_map(|page| &page.namespaces);
    let shown =
        shown.filter(|namespace| namespace.pointer("/metadata/name").is_some_and(|shown| shown == name));
    let labels = shown.filter_map(|namespace| namespace.pointer("/metadata/labels")?.as_object());
    let labels: Map<String, Value> =
        labels.flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}
