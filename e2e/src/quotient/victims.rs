//! Which pods are evicted, and which ones `kubectl quotient simulate` says would be.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Stage;
use crate::testbed::{AuditEvent, AuditMark};

/// What `simulate` has to know of the cluster.
const KINDS: &str = "nodes,namespaces,pods,queues.quotient.dev,resourcequotas,deployments.apps,\
                     replicasets.apps,jobs.batch";

impl Stage {
    /// The pods, as `namespace/name`, that the first step of `simulate` evicts in the cluster as it is, and those that the mode
    /// or the pause of a Queue keeps. It does not know the operator's own mode.
    pub async fn simulated_victims(&self) -> anyhow::Result<BTreeSet<String>> {
        let cluster = self.bed.kubectl(["get", "--all-namespaces", "--output=json", KINDS]).await?;
        let file = self.bed.directory().join("cluster.json");
        tokio::fs::write(&file, cluster).await?;
        let report = self.simulate(&file).await?;
        let step = report.pointer("/steps/0").context("simulate shows no step")?;
        let lists = ["evictions", "withheld"].map(|list| step.get(list).and_then(Value::as_array));
        let victims = lists.into_iter().flatten().flatten();
        Ok(victims.filter_map(|one| one.get("pod")?.as_str().map(str::to_owned)).collect())
    }

    /// What `kubectl quotient simulate` says of manifests until nothing more happens.
    pub async fn simulate(&self, manifests: &Path) -> anyhow::Result<Value> {
        let manifests = manifests.to_str().context("a path of characters")?;
        let arguments = ["simulate", "--until-stable", "--output=json", "--filename", manifests];
        let output = self.command_line(&arguments).await?;
        ensure!(output.status.success(), "simulate failed: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The evictions since then that the API server carried out.
    pub fn evictions(&self, since: AuditMark) -> anyhow::Result<Vec<AuditEvent>> {
        let events = self.bed.audit().events_since(since)?.into_iter();
        Ok(events.filter(|event| event.is_about("pods/eviction") && event.succeeded()).collect())
    }

    /// Their pods, as `namespace/name`.
    pub fn evicted(&self, since: AuditMark) -> anyhow::Result<BTreeSet<String>> {
        let evictions = self.evictions(since)?;
        Ok(evictions.iter().map(|eviction| format!("{}/{}", eviction.namespace, eviction.name)).collect())
    }
}
