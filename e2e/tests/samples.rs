//! The sample Queues of every page, applied to namespaces whose pods fill the cluster: no pod goes.
//!
//! A reader who tries a sample has work that runs. Nothing lacks room, so nothing may be evicted for anything. A sample with a
//! `request` is a standing claim and does evict; only the pages that explain one may show it.

mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::Api;
use kube::api::ListParams;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage, queues, quota_amounts, workspace_root};
use quotient_e2e::testbed::{AuditEvent, AuditMark, eventually, objects, until_is};
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
/// How many clusters try samples at the same time: mostly they wait.
const LANES: usize = 3;
/// Longer than ten cycles take.
const TEN_CYCLES: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_queue_evicts_no_pod_that_runs() -> Result<()> {
    let pages = pages(&workspace_root())?;
    let claims: BTreeSet<&str> = CLAIMS.iter().map(|(page, _)| *page).collect();
    let claiming: BTreeSet<&str> =
        pages.iter().filter(|(_, page)| page.claims()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(claiming, claims, "the pages whose samples have a `request` are the listed ones");

    let lane = |lane| try_out_in_turn(&pages, pages.iter().skip(lane).step_by(LANES));
    try_join_all((0..LANES).map(lane)).await.map(drop)
}

/// Tries samples one after the other, in a cluster of their own. Those that claim something come last.
async fn try_out_in_turn<'a>(
    pages: &BTreeMap<String, Page>,
    samples: impl Iterator<Item = (&'a String, &'a Page)>,
) -> Result<()> {
    let (claiming, others): (Vec<_>, Vec<_>) = samples.partition(|(_, page)| page.claims());
    let cluster = Cluster::fill(pages).await?;
    let operator = cluster.stage.start_operator().await?;
    cluster.stage.queue_object(NEIGHBOR, NEIGHBOR, json!({})).await?;
    let running = cluster.pods().await?;
    let begun = cluster.stage.bed.audit().mark()?;
    for (name, page) in others {
        cluster.try_out(page).await.with_context(|| name.clone())?;
        let now = cluster.pods().await?;
        ensure!(now == running, "{name}: pods changed\n{now:#?}\nbefore:\n{running:#?}");
        let ended = cluster.ended(begun)?;
        ensure!(ended.is_empty(), "{name}: pods were evicted or deleted: {ended:?}");
        cluster.take_back(page).await.with_context(|| name.clone())?;
        println!("{name}: {} queues, {} pods stay", page.queues.len(), running.len());
    }
    // In the same cluster a claim does evict: what stayed above did not stay for want of a victim.
    for (name, page) in claiming {
        let before = cluster.stage.bed.audit().mark()?;
        cluster.apply(page).await.with_context(|| name.clone())?;
        eventually(format!("{name} evicts a pod"), PATIENCE, async || {
            ensure!(!cluster.ended(before)?.is_empty(), "none is evicted");
            Ok(())
        })
        .await?;
        cluster.take_back(page).await.with_context(|| name.clone())?;
        println!("{name}: {} evictions and deletions", cluster.ended(before)?.len());
    }
    cluster.stage.end(operator).await
}

/// Full nodes, and the pods that fill them.
struct Cluster {
    stage: Stage,
    /// How many pods run in which namespace.
    work: BTreeMap<String, u32>,
}

impl Cluster {
    /// Every namespace that a page's Queue is in has work, and so has the neighbor; together they fill all nodes.
    async fn fill(pages: &BTreeMap<String, Page>) -> Result<Self> {
        let places: BTreeSet<String> = pages.values().flat_map(Page::places).collect();
        let mut work: BTreeMap<String, u32> = places.into_iter().zip(PODS.into_iter().cycle()).collect();
        work.insert(NEIGHBOR.to_owned(), NEIGHBORS_PODS);
        let total: u32 = work.values().sum();
        let sizes = (0..total).step_by(CPUS_OF_A_NODE as usize).enumerate();
        let nodes: Vec<(String, String, String)> = sizes
            .map(|(number, before)| {
                let cpu = CPUS_OF_A_NODE.min(total - before);
                (format!("node-{number}"), cpu.to_string(), format!("{cpu}Gi"))
            })
            .collect();
        let nodes: Vec<_> =
            nodes.iter().map(|(name, cpu, memory)| (name.as_str(), cpu.as_str(), memory.as_str())).collect();
        let stage = Stage::set(&nodes).await?;
        for (namespace, pods) in &work {
            stage.bed.apply(&namespace_of(pages, namespace)).await?;
            stage.bed.wait_until_usable().await?;
            stage.deployment(namespace, "web", *pods, objects::one_cpu(), false).await?;
        }
        let cluster = Self { stage, work };
        cluster.until_all_run().await?;
        Ok(cluster)
    }

    async fn until_all_run(&self) -> Result<()> {
        for (namespace, pods) in &self.work {
            self.stage.until_pods(namespace, PodCounts::running(*pods)).await?;
        }
        Ok(())
    }

    async fn apply(&self, page: &Page) -> Result<()> {
        self.stage.bed.apply(&list_of(&page.queues)).await?;
        Ok(())
    }

    /// Applies the Queues of a page, waits until each governs its namespace, and for ten cycles more.
    async fn try_out(&self, page: &Page) -> Result<()> {
        self.apply(page).await?;
        eventually("every Queue governs its namespace", PATIENCE, async || {
            for written in &page.queues {
                let queue = full_name(written);
                let (namespace, view) =
                    queues(&self.stage.bed).await?.remove_entry(&queue).context("no Queue")?;
                ensure!(view.is_reported && !view.conditions.contains_key("Stalled"), "{queue}: {view:?}");
                let namespace = namespace.split('/').next().unwrap_or_default();
                let has_quota = !view.is_parent && written["spec"]["mode"] != "Observe";
                ensure!(!has_quota || self.is_enforced(namespace).await?, "{queue} has no quota");
            }
            Ok(())
        })
        .await?;
        tokio::time::sleep(TEN_CYCLES).await;
        Ok(())
    }

    /// Whether the namespace has a quota, and admission goes by it.
    async fn is_enforced(&self, namespace: &str) -> Result<bool> {
        let quotas: Api<ResourceQuota> = Api::namespaced(self.stage.bed.client(), namespace);
        let Some(quota) = quotas.get_opt("quotient").await? else { return Ok(false) };
        let wanted = quota_amounts(&quota.spec.and_then(|spec| spec.hard).unwrap_or_default())?;
        let enforced = quota_amounts(&quota.status.and_then(|status| status.hard).unwrap_or_default())?;
        Ok(!wanted.is_empty() && wanted == enforced)
    }

    /// Deletes the Queues of a page, and waits until their quotas are gone and all work runs.
    async fn take_back(&self, page: &Page) -> Result<()> {
        self.stage.bed.kubectl_with_input(["delete", "-f", "-"], &list_of(&page.queues)).await?;
        let quotas: Api<ResourceQuota> = Api::all(self.stage.bed.client());
        until_is("the quotas are gone", 0, async || {
            let quotas = quotas.list(&ListParams::default()).await?.items;
            let left = quotas.iter().filter(|quota| quota.metadata.namespace.as_deref() != Some(NEIGHBOR));
            Ok(left.count())
        })
        .await?;
        self.until_all_run().await
    }

    /// Every pod with its uid; none of them is on its way out, and each one runs.
    async fn pods(&self) -> Result<BTreeSet<(String, String, String)>> {
        let pods: Api<Pod> = Api::all(self.stage.bed.client());
        let mut seen = BTreeSet::new();
        for pod in pods.list(&ListParams::default()).await?.items {
            let metadata = pod.metadata;
            ensure!(metadata.deletion_timestamp.is_none(), "{:?} is on its way out", metadata.name);
            let phase = pod.status.and_then(|status| status.phase);
            ensure!(phase.as_deref() == Some("Running"), "{:?} is {phase:?}", metadata.name);
            let text = Option::unwrap_or_default;
            seen.insert((text(metadata.namespace), text(metadata.name), text(metadata.uid)));
        }
        Ok(seen)
    }

    /// The evictions and deletions of pods since then.
    fn ended(&self, since: AuditMark) -> Result<Vec<String>> {
        let ends = |event: &AuditEvent| {
            let deletes = event.is_about("pods") && event.verb.starts_with("delete");
            event.succeeded() && (deletes || event.is_about("pods/eviction"))
        };
        let events = self.stage.bed.audit().events_since(since)?.into_iter().filter(ends);
        Ok(events.map(|event| format!("{} {}/{}", event.uri, event.namespace, event.name)).collect())
    }
}

/// A Namespace with the labels that any page shows on it.
fn namespace_of(pages: &BTreeMap<String, Page>, name: &str) -> String {
    let shown = pages.values().flat_map(|page| &page.namespaces);
    let shown =
        shown.filter(|namespace| namespace.pointer("/metadata/name").is_some_and(|shown| shown == name));
    let labels = shown.filter_map(|namespace| namespace.pointer("/metadata/labels")?.as_object());
    let labels: Map<String, Value> =
        labels.flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
    let metadata = json!({"name": name, "labels": labels});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}).to_string()
}

fn list_of(objects: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

fn full_name(queue: &Value) -> String {
    let part = |pointer| queue.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}", part("/metadata/namespace"), part("/metadata/name"))
}
