//! Creating what nearly every test needs, and waiting until it can be used.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use kube::api::{ListParams, PostParams};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::objects::{self, Amounts};
use super::{TestBed, eventually};

/// How long to wait for what normally takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

impl TestBed {
    /// Adds a node and waits until pods can be scheduled to it. `allocatable` is also its capacity; it has room for
    /// 110 pods unless it says otherwise.
    pub async fn add_node(&self, name: &str, allocatable: &Amounts<'_>) -> anyhow::Result<Node> {
        create(&Api::all(self.client()), &objects::node(name, allocatable)).await?;
        self.wait_until_schedulable(name).await
    }

    async fn wait_until_schedulable(&self, name: &str) -> anyhow::Result<Node> {
        let nodes: Api<Node> = Api::all(self.client());
        eventually(format!("the node {name} can be scheduled to"), PATIENCE, async || {
            let node = nodes.get(name).await?;
            must_be_schedulable(&node).map(|()| node)
        })
        .await
    }

    /// Creates a namespace and waits until pods can be created in it.
    pub async fn create_namespace(&self, name: &str) -> anyhow::Result<Namespace> {
        let namespace = create(&Api::all(self.client()), &objects::namespace(name)).await?;
        self.wait_for_service_account(name).await?;
        Ok(namespace)
    }

    /// Waits until what was applied from manifests can be used: pods can be created in every namespace and be
    /// scheduled to every node.
    pub async fn wait_until_usable(&self) -> anyhow::Result<()> {
        let (namespaces, nodes): (Api<Namespace>, Api<Node>) =
            (Api::all(self.client()), Api::all(self.client()));
        let everything = ListParams::default();
        let lists = tokio::try_join!(namespaces.list_metadata(&everything), nodes.list_metadata(&everything));
        let (namespaces, nodes) = lists.context("listing namespaces and nodes")?;
        for namespace in &namespaces.items {
            self.wait_for_service_account(namespace.metadata.name.as_deref().unwrap_or_default()).await?;
        }
        for node in &nodes.items {
            self.wait_until_schedulable(node.metadata.name.as_deref().unwrap_or_default()).await?;
        }
        Ok(())
    }

    /// Creates a pod of one container with these requests; see [`objects::pod`].
    pub async fn create_pod(
        &self,
        namespace: &str,
        name: &str,
        requests: &Amounts<'_>,
    ) -> anyhow::Result<Pod> {
        create(&Api::namespaced(self.client(), namespace), &objects::pod(namespace, name, requests)).await
    }

    /// Creates a quota and waits until it is in force: until its status shows what its spec says.
    pub async fn create_quota(
        &self,
        namespace: &str,
        name: &str,
        hard: &Amounts<'_>,
    ) -> anyhow::Result<ResourceQuota> {
        let quotas: Api<ResourceQuota> = Api::namespaced(self.client(), namespace);
        create(&quotas, &objects::resource_quota(namespace, name, hard)).await?;
        eventually(format!("the quota {namespace}/{name} is in force"), PATIENCE, async || {
            let quota = quotas.get(name).await?;
            let wanted = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref());
            let seen = quota.status.as_ref().and_then(|status| status.hard.as_ref());
            ensure!(wanted == seen, "status.hard is {seen:?}");
            Ok(quota)
        })
        .await
    }

    /// Waits until a pod is Running.
    pub async fn wait_until_running(&self, namespace: &str, name: &str) -> anyhow::Result<Pod> {
        let pods: Api<Pod> = Api::namespaced(self.client(), namespace);
        eventually(format!("the pod {namespace}/{name} is Running"), PATIENCE, async || {
            let pod = pods.get(name).await?;
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            ensure!(phase == Some("Running"), "phase {phase:?}");
            Ok(pod)
        })
        .await
    }

    /// Waits until a pod is gone.
    pub async fn wait_until_gone(&self, namespace: &str, name: &str) -> anyhow::Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.client(), namespace);
        eventually(format!("the pod {namespace}/{name} is gone"), PATIENCE, async || {
            let deleted = pods.get_opt(name).await?.map(|pod| pod.metadata.deletion_timestamp);
            ensure!(deleted.is_none(), "it is there, deleted at {deleted:?}");
            Ok(())
        })
        .await
    }
}

async fn create<K>(api: &Api<K>, object: &K) -> anyhow::Result<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    let metadata = object.meta();
    let name = [&metadata.namespace, &metadata.name].into_iter().flatten().map(String::as_str);
    let name = name.collect::<Vec<_>>().join("/");
    let created = api.create(&PostParams::default(), object).await;
    created.map_err(|refusal| anyhow!("creating the {} {name}: {refusal}", K::kind(&())))
}

fn must_be_schedulable(node: &Node) -> anyhow::Result<()> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let is_ready =
        conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    ensure!(is_ready, "it is not Ready");
    // Every new node is tainted until the node life-cycle controller has seen that it is Ready.
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    let keys: Vec<&str> = taints.iter().map(|taint| taint.key.as_str()).collect();
    ensure!(keys.is_empty(), "it is tainted: {}", keys.join(", "));
    Ok(())
}
