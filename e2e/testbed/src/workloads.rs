//! Creating what nearly every test needs, and waiting until it can be used.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use kube::api::{ListParams, PostParams};
use kube::{Api, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::objects::{self, Amounts};
use super::{TestBed, TestBedError, eventually};

/// How long to wait for what normally takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(120);

impl TestBed {
    /// Adds a node and waits until pods can be scheduled to it. `allocatable` is also its capacity; it has room for
    /// 110 pods unless it says otherwise.
    pub async fn add_node(&self, name: &str, allocatable: &Amounts<'_>) -> Result<Node, TestBedError> {
        create(&Api::all(self.client()), &objects::node(name, allocatable)).await?;
        self.wait_until_schedulable(name).await
    }

    async fn wait_until_schedulable(&self, name: &str) -> Result<Node, TestBedError> {
        let nodes: Api<Node> = Api::all(self.client());
        let node = eventually(format!("the node {name} can be scheduled to"), PATIENCE, async || {
            let node = nodes.get(name).await.map_err(|error| error.to_string())?;
            why_unschedulable(&node).map_or(Ok(node), Err)
        });
        Ok(node.await?)
    }

    /// Creates a namespace and waits until pods can be created in it.
    pub async fn create_namespace(&self, name: &str) -> Result<Namespace, TestBedError> {
        let namespace = create(&Api::all(self.client()), &objects::namespace(name)).await?;
        self.wait_for_service_account(name).await?;
        Ok(namespace)
    }

    /// Waits until what was applied from manifests can be used: pods can be created in every namespace and be
    /// scheduled to every node.
    pub async fn wait_until_usable(&self) -> Result<(), TestBedError> {
        let listing = TestBedError::api("listing namespaces and nodes");
        let (namespaces, nodes): (Api<Namespace>, Api<Node>) =
            (Api::all(self.client()), Api::all(self.client()));
        let everything = ListParams::default();
        let (namespaces, nodes) =
            tokio::try_join!(namespaces.list_metadata(&everything), nodes.list_metadata(&everything))
                .map_err(listing)?;
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
    ) -> Result<Pod, TestBedError> {
        create(&Api::namespaced(self.client(), namespace), &objects::pod(namespace, name, requests)).await
    }

    /// Creates a quota and waits until it is in force: until its status shows what its spec says.
    pub async fn create_quota(
        &self,
        namespace: &str,
        name: &str,
        hard: &Amounts<'_>,
    ) -> Result<ResourceQuota, TestBedError> {
        let quotas: Api<ResourceQuota> = Api::namespaced(self.client(), namespace);
        create(&quotas, &objects::resource_quota(namespace, name, hard)).await?;
        let in_force =
            eventually(format!("the quota {namespace}/{name} is in force"), PATIENCE, async || {
                let quota = quotas.get(name).await.map_err(|error| error.to_string())?;
                let wanted = quota.spec.as_ref().and_then(|spec| spec.hard.as_ref());
                let seen = quota.status.as_ref().and_then(|status| status.hard.as_ref());
                if wanted == seen { Ok(quota) } else { Err(format!("status.hard is {seen:?}")) }
            });
        Ok(in_force.await?)
    }

    /// Waits until a pod is Running.
    pub async fn wait_until_running(&self, namespace: &str, name: &str) -> Result<Pod, TestBedError> {
        let pods: Api<Pod> = Api::namespaced(self.client(), namespace);
        let running = eventually(format!("the pod {namespace}/{name} is Running"), PATIENCE, async || {
            let pod = pods.get(name).await.map_err(|error| error.to_string())?;
            match pod.status.as_ref().and_then(|status| status.phase.as_deref()) {
                Some("Running") => Ok(pod),
                phase => Err(format!("phase {}", phase.unwrap_or("unknown"))),
            }
        });
        Ok(running.await?)
    }

    /// Waits until a pod is gone.
    pub async fn wait_until_gone(&self, namespace: &str, name: &str) -> Result<(), TestBedError> {
        let pods: Api<Pod> = Api::namespaced(self.client(), namespace);
        let gone = eventually(format!("the pod {namespace}/{name} is gone"), PATIENCE, async || {
            match pods.get_opt(name).await {
                Ok(None) => Ok(()),
                Ok(Some(pod)) => {
                    Err(format!("it is there, deleted at {:?}", pod.metadata.deletion_timestamp))
                }
                Err(error) => Err(error.to_string()),
            }
        });
        Ok(gone.await?)
    }
}

async fn create<K>(api: &Api<K>, object: &K) -> Result<K, TestBedError>
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    let metadata = object.meta();
    let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref().unwrap_or_default());
    let action = match namespace {
        Some(namespace) => format!("creating the {} {namespace}/{name}", K::kind(&())),
        None => format!("creating the {} {name}", K::kind(&())),
    };
    api.create(&PostParams::default(), object).await.map_err(TestBedError::api(action))
}

fn why_unschedulable(node: &Node) -> Option<String> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    if !conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True") {
        return Some("it is not Ready".to_owned());
    }
    // Every new node is tainted until the node life-cycle controller has seen that it is Ready.
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    let keys: Vec<&str> = taints.iter().map(|taint| taint.key.as_str()).collect();
    (!keys.is_empty()).then(|| format!("it is tainted: {}", keys.join(", ")))
}
