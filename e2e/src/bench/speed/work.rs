//! What runs in a namespace: the workloads of a scenario.

use std::time::Duration;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::testbed::eventually;

/// How long a pod may be refused.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many objects are created at the same time.
const CONNECTIONS: usize = 16;

/// The kind of controller of the pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Deployment of so many replicas.
    Deployment,
    /// A Job of so many pods at a time, which do not end by themselves.
    Job,
    /// Jobs of one pod each, which does not end by itself.
    SmallJobs,
    /// No controller: pods as they are.
    Pods,
}

/// Pods of one shape, all alike.
#[derive(Clone, Debug)]
pub struct Work {
    /// The kind of their controller.
    pub kind: Kind,
    /// Where.
    pub namespace: String,
    /// The owner's name, or the beginning of the pods' names.
    pub name: String,
    /// How many.
    pub count: u32,
    /// What each requests, in whole cpus; as many GiB of memory.
    pub cpu: u32,
    /// How many of them the queue has room for.
    pub fits: u32,
}

impl Work {
    /// Pods of one cpu.
    pub fn of(kind: Kind, namespace: &str, count: u32) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: "work".to_owned(), count, cpu: 1, fits: count }
    }

    /// The same with pods of so many cpus.
    #[must_use]
    pub fn of_cpu(self, cpu: u32) -> Self {
        Self { cpu, ..self }
    }

    /// The same where only so many have room.
    #[must_use]
    pub fn of_which_fit(self, fits: u32) -> Self {
        Self { fits, ..self }
    }

    /// Creates it.
    pub async fn create(&self, client: &Client) -> anyhow::Result<()> {
        let creating = || format!("creating {:?} {}/{}", self.kind, self.namespace, self.name);
        match self.kind {
            Kind::Deployment => {
                let deployment: Deployment = serde_json::from_value(self.deployment())?;
                let api: Api<Deployment> = Api::namespaced(client.clone(), &self.namespace);
                api.create(&PostParams::default(), &deployment).await.with_context(creating)?;
            }
            Kind::Job => self.create_job(client, &self.name, self.count).await.with_context(creating)?,
            Kind::SmallJobs => {
                let create = async |name: String| self.create_job(client, &name, 1).await;
                self.create_each(create).await.with_context(creating)?;
            }
            Kind::Pods => {
                let create = async |name: String| self.create_pod(client, name).await;
                self.create_each(create).await.with_context(creating)?;
            }
        }
        Ok(())
    }

    /// Creates as many objects as there are pods, several at the same time.
    async fn create_each<F: Future<Output = anyhow::Result<()>>>(
        &self,
        create: impl Fn(String) -> F,
    ) -> anyhow::Result<()> {
        let names = (0..self.count).map(|number| format!("{}-{number}", self.name));
        stream::iter(names).map(create).buffer_unordered(CONNECTIONS).try_collect().await
    }

    async fn create_job(&self, client: &Client, name: &str, pods: u32) -> anyhow::Result<()> {
        let job: Job = serde_json::from_value(self.job(name, pods))?;
        let api: Api<Job> = Api::namespaced(client.clone(), &self.namespace);
        api.create(&PostParams::default(), &job).await?;
        Ok(())
    }

    /// A queue that follows its pods gives room as they come.
    async fn create_pod(&self, client: &Client, name: String) -> anyhow::Result<()> {
        let api: Api<Pod> = Api::namespaced(client.clone(), &self.namespace);
        let mut pod: Pod = serde_json::from_value(json!({"spec": self.pod_spec("Always")}))?;
        let created = format!("{name} is created");
        pod.metadata.name = Some(name);
        eventually(created, PATIENCE, async || api.create(&PostParams::default(), &pod).await.map(|_| ()))
            .await
    }

    fn deployment(&self) -> Value {
        json!({
            "metadata": {"name": self.name},
            "spec": {
                "replicas": self.count,
                "selector": {"matchLabels": {"app": self.name}},
                "template": {"metadata": {"labels": {"app": self.name}}, "spec": self.pod_spec("Always")},
            },
        })
    }

    /// An eviction is no failure of the Job, as an administrator would have it.
    fn job(&self, name: &str, pods: u32) -> Value {
        let disrupted = json!([{"type": "DisruptionTarget", "status": "True"}]);
        json!({
            "metadata": {"name": name},
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "podReplacementPolicy": "Failed",
                "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": disrupted}]},
                "template": {"spec": self.pod_spec("Never")},
            },
        })
    }

    fn pod_spec(&self, restart: &str) -> Value {
        let requests = json!({"cpu": self.cpu.to_string(), "memory": format!("{}Gi", self.cpu)});
        json!({
            "restartPolicy": restart,
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": "pause", "resources": {"requests": requests}}],
        })
    }
}
