//! Which pods are evicted, and which ones `kubectl quotient simulate` says would be.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::Stage;
use crate::testbed::{AuditEvent, AuditMark};

/// What `simulate` has to know of the cluster.
const KINDS: &str = "nodes,namespaces,pods,queues.quotient.dev,resourcequotas,deployments.apps,\
                     replicasets.apps,jobs.batch";

/// The pods of the first step of `simulate`, as `namespace/name`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedVictims {
    /// It evicts them. It does not know the operator's own mode.
    pub evicted: BTreeSet<String>,
    /// The mode or the pause of a Queue keeps them.
    pub withheld: BTreeSet<String>,
}

impl SimulatedVictims {
    /// All of them.
    pub fn named(&self) -> BTreeSet<String> {
        self.evicted.union(&self.withheld).cloned().collect()
    }
}

impl Stage {
    /// What `kubectl quotient simulate` says of the cluster as it is.
    pub async fn simulated_victims(&self) -> anyhow::Result<SimulatedVictims> {
        let cluster = self.bed.kubectl(["get", "--all-namespaces", "--output=json", KINDS]).await?;
        let file = self.bed.directory().join("cluster.json");
        tokio::fs::write(&file, cluster).await?;
        let file = file.to_str().context("a path of characters")?;
        let output = self.command_line(&["simulate", "--output=json", "--filename", file]).await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout)?;
        let step = report.pointer("/steps/0").context("simulate shows no step")?;
        let pods = |list: &str| {
            let list = step.get(list).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|one| one.get("pod")?.as_str().map(str::to_owned)).collect()
        };
        Ok(SimulatedVictims { evicted: pods("evictions"), withheld: pods("withheld") })
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
