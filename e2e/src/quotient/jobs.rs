//! QueueJobs on a stage: submitting them, and what can be seen of them and their Jobs from outside.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use quotient_crds::{QueueJob, QueueJobCondition, QueueJobStatus};
use serde_json::{Value, json};

use super::{Stage, label, writes_of_operator};
use crate::testbed::{PATIENCE, eventually, until_is};

/// Longer than ten cycles of the loop at rest take, with the counts of pods that follow.
const TEN_CYCLES: Duration = Duration::from_secs(4);

/// A QueueJob of one task `w`, whose pods request these amounts and end at once.
pub fn queue_job(name: &str, min: u32, replicas: u32, cpu: u32, memory_gi: u32) -> Value {
    let requests = json!({"cpu": cpu.to_string(), "memory": format!("{memory_gi}Gi")});
    json!({
        "apiVersion": "quotient.dev/v1alpha1",
        "kind": "QueueJob",
        "metadata": {"name": name},
        "spec": {
            "minAvailable": min,
            "tasks": [{"name": "w", "replicas": replicas, "template": {"spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "pause", "resources": {"requests": requests}}],
            }}}],
        },
    })
}

impl Stage {
    /// Creates a QueueJob.
    pub async fn submit(&self, namespace: &str, job: Value) -> anyhow::Result<()> {
        let jobs = self.api::<QueueJob>(namespace);
        let job: QueueJob = serde_json::from_value(job)?;
        jobs.create(&PostParams::default(), &job).await.context("creating a QueueJob")?;
        Ok(())
    }

    /// The running pods of every QueueJob of a namespace, and what its Jobs say: `job-01 2/2, job-02 2/2`.
    pub async fn jobs_seen(&self, namespace: &str) -> anyhow::Result<String> {
        let jobs = self.api::<Job>(namespace);
        let of_job = |pod: &Pod| label(pod, "quotient.dev/queue-job");
        let (live, leaving) = self.live_pods_by(namespace, of_job).await?;
        let mut printed = Vec::new();
        for job in jobs.list(&ListParams::default()).await?.items {
            let spec = job.spec.context("a Job without a spec")?;
            let name = job.metadata.name.unwrap_or_default();
            let name = name.strip_suffix("-w").unwrap_or(&name).to_owned();
            let may = if spec.suspend == Some(true) { 0 } else { spec.parallelism.unwrap_or(1) };
            let running = live.get(&name).map_or(0, |(running, _)| *running);
            printed.push(format!("{name} {running}/{may}"));
        }
        if leaving > 0 {
            printed.push(format!("{leaving} leaving"));
        }
        Ok(printed.join(", "))
    }

    /// Waits until [`jobs_seen`](Self::jobs_seen) are exactly these and the quota counts their pods.
    pub async fn until_jobs(&self, namespace: &str, expected: &str) -> anyhow::Result<()> {
        until_is(format!("{namespace}: {expected}"), expected, async || self.jobs_seen(namespace).await)
            .await?;
        self.until_quota_is_exact(namespace).await
    }

    /// What a QueueJob's status says.
    pub async fn job_status(&self, namespace: &str, name: &str) -> anyhow::Result<QueueJobStatus> {
        let jobs = self.api::<QueueJob>(namespace);
        Ok(jobs.get(name).await?.status.unwrap_or_default())
    }

    /// Waits until a condition has this status and reason; returns its message.
    pub async fn until_job_condition(
        &self,
        (namespace, name): (&str, &str),
        condition: QueueJobCondition,
        expected: (&str, &str),
    ) -> anyhow::Result<String> {
        eventually(format!("{name}: {condition} is {expected:?}"), PATIENCE, async || {
            let status = self.job_status(namespace, name).await?;
            let found = status.condition(condition).context("not told yet")?;
            ensure!((found.status.as_str(), found.reason.as_str()) == expected, "{found:?}");
            Ok(found.message.clone())
        })
        .await
    }

    /// The kubelet says of so many running pods of a QueueJob that they have ended well; returns when its status counts
    /// that many.
    pub async fn pods_succeed(&self, namespace: &str, job: &str, count: usize) -> anyhow::Result<()> {
        let pods = self.api::<Pod>(namespace);
        let before = self.job_status(namespace, job).await?.succeeded.unwrap_or_default();
        let of_job = ListParams::default().labels(&format!("quotient.dev/queue-job={job}"));
        let runs = |pod: &Pod| {
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            phase == Some("Running") && pod.metadata.deletion_timestamp.is_none()
        };
        let running = pods.list(&of_job).await?.items.into_iter().filter(runs);
        let names: Vec<String> = running.filter_map(|pod| pod.metadata.name).take(count).collect();
        ensure!(names.len() == count, "only {} pods of {job} run", names.len());
        for name in names {
            let patch = json!({"status": {"phase": "Succeeded"}});
            pods.patch_status(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        let expected = before.saturating_add(i32::try_from(count)?);
        until_is("what has succeeded is counted", Some(expected), async || {
            Ok(self.job_status(namespace, job).await?.succeeded)
        })
        .await
    }

    /// Whatever moves from here on is a change without a cause.
    pub async fn nothing_moves(&self, namespace: &str) -> anyhow::Result<()> {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let before = self.jobs_seen(namespace).await?;
        let mark = self.bed.audit().mark()?;
        tokio::time::sleep(TEN_CYCLES).await;
        let mut writes = writes_of_operator(&self.bed.audit().events_since(mark)?);
        // What queues use is told every now and then.
        writes.retain(|write| write.resource != "queues/status");
        ensure!(writes.is_empty(), "{writes:#?}");
        ensure!(self.jobs_seen(namespace).await? == before, "it was {before}");
        Ok(())
    }
}
