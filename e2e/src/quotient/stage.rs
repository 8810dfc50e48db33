//! A stage to play stories on: a test bed with nodes, the operator, and queues with pods.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt as _};
use quotient_crds::{ConditionType, Queue, QueueStatus};
use quotient_invariants::{Amount, Amounts, Tolerance, requests};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::{
    Operator, Programs, QueueView, nothing_forbidden, promises_kept, queues, quota_amounts,
    writes_of_operator,
};
use crate::testbed::{
    AuditMark, Backup, Options, PATIENCE, TestBed, annotations, eventually, objects, until_is,
};

/// Admission looks at a cache of its own, which follows the quota's status within milliseconds.
const ADMISSION_LAG: Duration = Duration::from_millis(250);

/// The scheduling gate of pods in Gate mode.
pub const SHARE_GATE: &str = "quotient.dev/share";

/// A test bed with the programs under test.
pub struct Stage {
    /// The control plane.
    pub bed: TestBed,
    /// The programs.
    pub programs: Programs,
}

/// What etcd holds after the chart was installed, once a process: a control plane that begins with it finds its own roles and the
/// chart, and writes neither.
async fn with_chart() -> anyhow::Result<Backup> {
    static BACKUP: OnceCell<Backup> = OnceCell::const_new();
    let install = async || {
        let bed = TestBed::start(Options::default()).await?;
        super::install_chart(&bed).await?;
        let backup = bed.back_up().await?;
        bed.stop().await?;
        anyhow::Ok(backup)
    };
    BACKUP.get_or_try_init(install).await.cloned()
}

impl Stage {
    /// A control plane with these nodes (name, cpu, memory) and Quotient's chart; the operator does not run yet.
    pub async fn set(nodes: &[(&str, &str, &str)]) -> anyhow::Result<Self> {
        Self::set_on(Options::default(), nodes).await
    }

    /// The same on a test bed of this kind; whatever is asked for, its audit log can be checked.
    pub async fn set_on(options: Options, nodes: &[(&str, &str, &str)]) -> anyhow::Result<Self> {
        let programs = Programs::build().await?;
        let beginning = if options.pod_groups { None } else { Some(with_chart().await?) };
        let bed = TestBed::start(Options { audit_bodies: true, beginning, ..options }).await?;
        for (name, cpu, memory) in nodes {
            bed.add_node(name, &[("cpu", cpu), ("memory", memory)]).await?;
        }
        super::install_chart(&bed).await?;
        Ok(Self { bed, programs })
    }

    /// A control plane of this kind on which nothing is installed yet.
    pub async fn bare(options: Options) -> anyhow::Result<Self> {
        Ok(Self { programs: Programs::build().await?, bed: TestBed::start(options).await? })
    }

    /// Starts the operator and waits until it is ready.
    pub async fn start_operator(&self) -> anyhow::Result<Operator> {
        Operator::start(&self.bed, &self.programs).await
    }

    /// Runs `kubectl quotient` with these arguments on the cluster.
    pub async fn command_line(&self, arguments: &[&str]) -> std::io::Result<Output> {
        let mut command = Command::new(&self.programs.command_line);
        command.args(arguments).env("KUBECONFIG", self.bed.kubeconfig_path()).output().await
    }

    /// What commands of a page print, run by a shell with kubectl and the plugin in its path, with the rights of a kubeconfig.
    pub async fn shell(&self, kubeconfig: &Path, commands: &str) -> anyhow::Result<String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let plugin = self.programs.command_line.parent().context("the plugin is in no folder")?;
        let output = Command::new("sh")
            .args(["-e", "-c", commands])
            .env("KUBECONFIG", kubeconfig)
            .env("PATH", format!("{}:{}:{path}", self.bed.programs_directory().display(), plugin.display()))
            .output()
            .await?;
        ensure!(output.status.success(), "{commands}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Ends the operator, and the stage once all that happened has been checked.
    pub async fn end(self, operator: Operator) -> anyhow::Result<()> {
        operator.stop().await?;
        self.promises_were_kept()?;
        self.bed.stop().await
    }

    /// Fails with what was refused to the operator for want of rights, and with each promise that was broken.
    pub fn promises_were_kept(&self) -> anyhow::Result<()> {
        self.promises_were_kept_since(AuditMark::default())
    }

    /// The same of what happened since then, when the cluster was empty.
    pub fn promises_were_kept_since(&self, mark: AuditMark) -> anyhow::Result<()> {
        nothing_forbidden(&self.bed)?;
        promises_kept(self.bed.audit().events_since(mark)?, Tolerance::default(), true)
    }

    /// Makes a namespace with a Queue of the same name.
    pub async fn queue(&self, namespace: &str, spec: Value) -> anyhow::Result<()> {
        self.bed.create_namespace(namespace).await?;
        self.queue_object(namespace, namespace, spec).await
    }

    /// The same with a claim to everything: pods of other queues are evicted for it even while it has none.
    pub async fn claim(&self, namespace: &str, mut spec: Value) -> anyhow::Result<()> {
        let fields = spec.as_object_mut().context("the spec of a Queue is an object")?;
        fields.insert(
            "request".to_owned(),
            json!({"cpu": "1k", "memory": "1Ti", "example.com/gpu": "1k", "nvidia.com/gpu": "1k"}),
        );
        self.queue(namespace, spec).await
    }

    /// Makes a Queue in a namespace that exists.
    pub async fn queue_object(&self, namespace: &str, name: &str, spec: Value) -> anyhow::Result<()> {
        let queue: Queue = serde_json::from_value(json!({
            "apiVersion": "quotient.dev/v1alpha1",
            "kind": "Queue",
            "metadata": {"namespace": namespace, "name": name},
            "spec": spec,
        }))?;
        let queues = self.api::<Queue>(namespace);
        queues
            .create(&PostParams::default(), &queue)
            .await
            .with_context(|| format!("creating Queue {namespace}/{name}"))?;
        Ok(())
    }

    /// Changes the spec of a Queue.
    pub async fn patch_queue(&self, namespace: &str, name: &str, spec: Value) -> anyhow::Result<()> {
        let queues = self.api::<Queue>(namespace);
        queues.patch(name, &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await?;
        Ok(())
    }

    /// The status of the Queue that is named as its namespace.
    pub async fn queue_status(&self, namespace: &str) -> anyhow::Result<QueueStatus> {
        let queues = self.api::<Queue>(namespace);
        queues.get(namespace).await?.status.with_context(|| format!("the Queue {namespace} has no status"))
    }

    /// A Deployment of `replicas` pods that stay Terminating until [`release`](Self::release) if `hold` says so.
    pub async fn deployment(
        &self,
        namespace: &str,
        name: &str,
        replicas: u32,
        requests: Value,
        hold: bool,
    ) -> anyhow::Result<()> {
        let deployment = objects::workload("Deployment", namespace, name, replicas, &requests);
        let deployment = if hold { objects::held(deployment) } else { deployment };
        let deployment: Deployment = serde_json::from_value(deployment)?;
        let deployments = self.api::<Deployment>(namespace);
        deployments.create(&PostParams::default(), &deployment).await?;
        Ok(())
    }

    /// The objects of a kind in a namespace, with all rights.
    pub fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.bed.client(), namespace)
    }

    /// Applies an object, or a `List`.
    pub async fn apply(&self, object: &Value) -> anyhow::Result<()> {
        self.bed.apply(&object.to_string()).await.map(drop)
    }

    /// Ends everything that runs in a namespace, for the next scene: its Deployments and all pods, without grace.
    pub async fn clear(&self, namespace: &str) -> anyhow::Result<()> {
        let (all, now) = (ListParams::default(), DeleteParams::default().grace_period(0));
        let client = self.bed.client();
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
        // In the foreground: a ReplicaSet that is gone at once would be known to its controller for a moment, which would create
        // one more pod.
        deployments.delete_collection(&DeleteParams::foreground(), &all).await?;
        let replicas: Api<ReplicaSet> = Api::namespaced(client.clone(), namespace);
        let pods: Api<Pod> = Api::namespaced(client, namespace);
        eventually(format!("nothing runs in {namespace}"), PATIENCE, async || {
            pods.delete_collection(&now, &all).await?;
            let (replicas, pods) =
                (replicas.list(&all).await?.items.len(), pods.list(&all).await?.items.len());
            ensure!(replicas == 0 && pods == 0, "{replicas} ReplicaSets and {pods} pods");
            Ok(())
        })
        .await
    }

    /// Deletes the Queue that is named as its namespace, and [clears](Self::clear) the namespace.
    pub async fn remove_queue(&self, namespace: &str) -> anyhow::Result<()> {
        let queues = self.api::<Queue>(namespace);
        queues.delete(namespace, &DeleteParams::default()).await?;
        self.clear(namespace).await
    }

    /// Lets the pods of a namespace go that are held in Terminating.
    pub async fn release(&self, namespace: &str) -> anyhow::Result<()> {
        let pods = self.api::<Pod>(namespace);
        for pod in self.pods(namespace).await? {
            if pod.metadata.deletion_timestamp.is_some() {
                let patch = json!({"metadata": {"annotations": {annotations::HOLD_TERMINATION: null}}});
                pods.patch(&pod.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await?;
            }
        }
        Ok(())
    }

    /// The pods of a namespace.
    pub async fn pods(&self, namespace: &str) -> anyhow::Result<Vec<Pod>> {
        pods(&self.bed, namespace).await
    }

    /// How many pods of a namespace run and are not on their way out, are on their way out, and wait.
    pub async fn pod_counts(&self, namespace: &str) -> anyhow::Result<PodCounts> {
        pod_counts(&self.bed, namespace).await
    }

    /// The pods of a namespace by what `of` calls each: how many run, how many wait, and how many are on their way out, such as
    /// `high 0+1, low 2, leaving 1`.
    pub async fn pods_by(
        &self,
        namespace: &str,
        of: impl Fn(&Pod) -> Option<String>,
    ) -> anyhow::Result<String> {
        let (live, leaving) = self.live_pods_by(namespace, of).await?;
        let counts = live.iter().map(|(name, (running, waiting))| match waiting {
            0 => format!("{name} {running}"),
            _ => format!("{name} {running}+{waiting}"),
        });
        let leaving = (leaving > 0).then(|| format!("leaving {leaving}"));
        Ok(counts.chain(leaving).collect::<Vec<_>>().join(", "))
    }

    /// By what `of` calls them the pods that run and that wait, and how many are on their way out.
    pub(super) async fn live_pods_by(
        &self,
        namespace: &str,
        of: impl Fn(&Pod) -> Option<String>,
    ) -> anyhow::Result<(BTreeMap<String, (u32, u32)>, u32)> {
        let mut live: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        let mut leaving: u32 = 0;
        for pod in self.pods(namespace).await? {
            let Some(name) = of(&pod) else { continue };
            if pod.metadata.deletion_timestamp.is_some() {
                leaving = leaving.saturating_add(1);
                continue;
            }
            let (running, waiting) = live.entry(name).or_default();
            let is_running =
                pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
            let count = if is_running { running } else { waiting };
            *count = count.saturating_add(1);
        }
        Ok((live, leaving))
    }

    /// Waits until a namespace has these pods.
    pub async fn until_pods(&self, namespace: &str, expected: PodCounts) -> anyhow::Result<()> {
        until_pods(&self.bed, namespace, expected).await
    }

    /// Waits until admission enforces exactly these amounts in a namespace, such as `cpu 3, memory 9Gi`.
    pub async fn until_allowed(&self, namespace: &str, expected: &str) -> anyhow::Result<()> {
        let quotas = self.api::<ResourceQuota>(namespace);
        until_is(format!("{namespace} is allowed {expected}"), expected, async || {
            let status = quotas.get("quotient").await?.status.unwrap_or_default();
            let hard = quota_amounts(&status.hard.unwrap_or_default())?;
            Ok(hard.to_string())
        })
        .await?;
        tokio::time::sleep(ADMISSION_LAG).await;
        Ok(())
    }

    /// Waits until the API server gates new pods of a namespace: it learns of a Queue by a watch.
    pub async fn until_gating(&self, namespace: &str) -> anyhow::Result<()> {
        let tried = objects::pod(namespace, "tried", &[("cpu", "1"), ("memory", "1Gi")]);
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        eventually(format!("pods of {namespace} are gated"), PATIENCE, async || {
            let spec = self.api::<Pod>(namespace).create(&dry, &tried).await?.spec.unwrap_or_default();
            let gates = spec.scheduling_gates.unwrap_or_default();
            ensure!(gates.iter().any(|gate| gate.name == SHARE_GATE), "they are not");
            Ok(())
        })
        .await
    }

    /// Waits until a namespace has its quota. Pods that come before it are in the queue already.
    pub async fn until_quota(&self, namespace: &str) -> anyhow::Result<()> {
        let created = ["wait", "resourcequota/quotient", "--for=create", "--timeout=60s", "--namespace"];
        self.bed.kubectl(created.into_iter().chain([namespace])).await?;
        Ok(())
    }

    /// Waits until a namespace's quota counts exactly its pods. A count of Kubernetes may miss the newest pods until the
    /// next one, and lets in more than the quota meanwhile.
    pub async fn until_quota_is_exact(&self, namespace: &str) -> anyhow::Result<()> {
        let quotas = self.api::<ResourceQuota>(namespace);
        eventually(format!("the quota of {namespace} counts its pods"), PATIENCE, async || {
            let used =
                quotas.get_opt("quotient").await?.and_then(|quota| quota.status?.used).unwrap_or_default();
            let mut requested = Amounts::new();
            for pod in self.pods(namespace).await? {
                let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
                if !matches!(phase, Some("Succeeded" | "Failed")) {
                    requested.add_all(&requests(&serde_json::to_value(&pod)?));
                }
            }
            for (name, counted) in used {
                let resource =
                    quotient_invariants::Resource::named(name.strip_prefix("requests.").unwrap_or(&name));
                let exact = requested.get(&resource);
                ensure!(Amount::from_text(&counted.0) == Some(exact), "{name}: {}", counted.0);
            }
            Ok(())
        })
        .await
    }

    /// Waits until the operator has written nothing for so long, the Lease left out.
    pub async fn until_quiet_for(&self, time: Duration) -> anyhow::Result<()> {
        eventually(format!("the operator writes nothing for {time:?}"), PATIENCE, async || {
            let mark = self.bed.audit().mark()?;
            tokio::time::sleep(time).await;
            let writes = writes_of_operator(&self.bed.audit().events_since(mark)?);
            ensure!(writes.is_empty(), "{writes:?}");
            Ok(())
        })
        .await
    }

    /// Waits until a condition of the Queue that is named as its namespace has this status and reason; returns its message.
    pub async fn until_condition(
        &self,
        namespace: &str,
        condition: ConditionType,
        expected: (&str, &str),
    ) -> anyhow::Result<String> {
        eventually(format!("{namespace}: {condition} is {expected:?}"), PATIENCE, async || {
            let status = self.queue_status(namespace).await?;
            let found = status.condition(condition).context("not told yet")?;
            ensure!((found.status.as_str(), found.reason.as_str()) == expected, "{found:?}");
            Ok(found.message.clone())
        })
        .await
    }

    /// Waits until admission enforces so many cpu in a namespace, whatever else it enforces.
    pub async fn until_cpu(&self, namespace: &str, expected: &str) -> anyhow::Result<()> {
        let quotas = self.api::<ResourceQuota>(namespace);
        until_is(format!("{namespace} is allowed {expected} cpu"), Some(expected.to_owned()), async || {
            let hard = quotas.get("quotient").await?.status.and_then(|status| status.hard);
            Ok(hard.and_then(|mut hard| hard.remove("requests.cpu")).map(|cpu| cpu.0))
        })
        .await?;
        tokio::time::sleep(ADMISSION_LAG).await;
        Ok(())
    }

    /// Waits until an event of this reason in a namespace says so.
    pub async fn until_event(&self, namespace: &str, reason: &str, text: &str) -> anyhow::Result<()> {
        let selector = format!("--field-selector=reason={reason}");
        let messages = ["-o=jsonpath={.items[*].message}", "--namespace", namespace, &selector];
        eventually(format!("an event {reason} in {namespace} says {text}"), PATIENCE, async || {
            let said = self.bed.kubectl(["get", "events"].into_iter().chain(messages)).await?;
            ensure!(said.contains(text), "{said}");
            Ok(())
        })
        .await
    }

    /// Waits until the Queues show exactly these shares, one line a queue: see [`shares_text`].
    pub async fn until_shares(&self, what: &str, expected: &str) -> anyhow::Result<()> {
        until_shares(&self.bed, what, expected).await
    }
}

/// What a namespace's pods do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCounts {
    /// Running and not on their way out.
    pub running: u32,
    /// On their way out.
    pub terminating: u32,
    /// Pending and not on their way out.
    pub pending: u32,
}

impl PodCounts {
    /// So many running, nothing else.
    pub fn running(running: u32) -> Self {
        Self { running, ..Self::default() }
    }
}

/// What a pod's label says.
pub fn label(pod: &Pod, name: &str) -> Option<String> {
    pod.metadata.labels.as_ref()?.get(name).cloned()
}

/// The shares of all queues as lines: `q1/q1: deserved cpu 3, memory 9Gi; allocated …; preempting nothing`.
///
/// What is used is left out: the operator reports it at leisure.
pub fn shares_text(queues: &BTreeMap<String, QueueView>) -> String {
    let line = |(name, queue): (&String, &QueueView)| {
        let QueueView { is_reported, deserved, allocated, preempting, .. } = queue;
        if !is_reported {
            return format!("{name}: not told yet\n");
        }
        format!("{name}: deserved {deserved}; allocated {allocated}; preempting {preempting}\n")
    };
    queues.iter().map(line).collect()
}

async fn pods(bed: &TestBed, namespace: &str) -> anyhow::Result<Vec<Pod>> {
    let pods: Api<Pod> = Api::namespaced(bed.client(), namespace);
    Ok(pods.list(&ListParams::default()).await?.items)
}

async fn pod_counts(bed: &TestBed, namespace: &str) -> anyhow::Result<PodCounts> {
    let mut counts = PodCounts::default();
    for pod in pods(bed, namespace).await? {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let counter = match phase {
            _ if pod.metadata.deletion_timestamp.is_some() => &mut counts.terminating,
            Some("Running") => &mut counts.running,
            Some("Pending") => &mut counts.pending,
            _ => continue,
        };
        *counter = counter.saturating_add(1);
    }
    Ok(counts)
}

/// Waits until a namespace of a test bed has these pods.
pub async fn until_pods(bed: &TestBed, namespace: &str, expected: PodCounts) -> anyhow::Result<()> {
    until_is(format!("{namespace} has {expected:?}"), expected, async || pod_counts(bed, namespace).await)
        .await
}

/// Waits until the Queues on a test bed show exactly these shares, one line a queue: see [`shares_text`].
pub async fn until_shares(bed: &TestBed, what: &str, expected: &str) -> anyhow::Result<()> {
    let tidy = |text: &str| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let expected = tidy(expected);
    eventually(what, PATIENCE, async || {
        let seen = tidy(&shares_text(&queues(bed).await?));
        ensure!(seen == expected, "\n{seen}\nexpected:\n{expected}");
        Ok(())
    })
    .await
}
