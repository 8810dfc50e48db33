//! Writing the statuses of QueueJobs: what is decided at once, what is counted every now and then.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::names::FIELD_MANAGER;
use quotient_crds::{QueueJob, QueueJobStatus};
use quotient_engine::plan::{Plan, QueueJobName};
use quotient_index::{Decoded, Keeps};
use serde_json::json;
use tokio::time::Instant;
use tracing::warn;

use super::status::compose;
use super::{PARALLEL, observed};
use crate::answer::{Answer, ask, said};
use crate::status::patch::merge_patch;
use crate::writer::Tools;

/// How long one write may take.
const CALL: Duration = Duration::from_secs(5);

/// What only counts pods is written at most this often for one QueueJob.
const COUNTS: Duration = Duration::from_secs(1);

/// How long a write that failed, or that did not stick, is not repeated.
const AGAIN: Duration = Duration::from_secs(5);

/// What metrics call it.
const KIND: &str = "queuejob_status";

/// Remembers what keeps statuses from being written too often.
pub(super) struct JobStatuses {
    tools: Tools,
    /// When each was written last, and what.
    written: BTreeMap<QueueJobName, (Instant, QueueJobStatus)>,
}

impl JobStatuses {
    pub(super) const fn new(tools: Tools) -> Self {
        Self { tools, written: BTreeMap::new() }
    }

    /// Writes what `plan` changes. Returns when something that has to wait is due.
    pub(super) async fn write(
        &mut self,
        plan: &Plan,
        refused: &BTreeMap<QueueJobName, String>,
    ) -> Option<Instant> {
        self.written.retain(|name, _| plan.queue_jobs.contains_key(name));
        let now = Instant::now();
        let (mut due, mut next) = (Vec::new(), None);
        for (name, decided) in &plan.queue_jobs {
            let Some(observed) = observed(&self.tools, name, decided) else { continue };
            let refused = refused.get(name).map(String::as_str);
            let wanted = compose(decided, &observed, refused, self.tools.clock.now());
            let stored = observed.status.unwrap_or_default();
            if wanted.same_meaning(&stored) {
                continue;
            }
            let wait = match self.written.get(name) {
                // It was sent and is not what is seen: somebody else writes it, too, or it is on its way.
                Some((at, sent)) if sent.same_meaning(&wanted) => at.checked_add(AGAIN),
                Some((at, _)) if same_decision(&wanted, &stored) => at.checked_add(COUNTS),
                _ => None,
            };
            match wait.filter(|until| *until > now) {
                Some(until) => next = [next, Some(until)].into_iter().flatten().min(),
                None => due.push((name.clone(), stored, wanted)),
            }
        }
        let tools = &self.tools;
        let calls: Vec<_> = due
            .into_iter()
            .map(|(name, stored, wanted)| async move {
                let result = write_one(tools, &name, &stored, &wanted).await;
                (name, wanted, result)
            })
            .collect();
        let mut calls = stream::iter(calls).buffer_unordered(PARALLEL);
        let mut written = Vec::new();
        while let Some((name, wanted, result)) = calls.next().await {
            tools.beat.now();
            if let Err(why) = result {
                warn!(queue_job = %name, error = why, "the status was not written");
                next = [next, Instant::now().checked_add(AGAIN)].into_iter().flatten().min();
            }
            written.push((name, (Instant::now(), wanted)));
        }
        drop(calls);
        self.written.extend(written);
        next
    }
}

/// Whether only what is counted differs.
fn same_decision(wanted: &QueueJobStatus, stored: &QueueJobStatus) -> bool {
    let decided = |status: &QueueJobStatus| QueueJobStatus {
        used: None,
        pending: None,
        running: None,
        succeeded: None,
        failed: None,
        terminating: None,
        ..status.clone()
    };
    decided(wanted).same_meaning(&decided(stored))
}

async fn write_one(
    tools: &Tools,
    name: &QueueJobName,
    stored: &QueueJobStatus,
    wanted: &QueueJobStatus,
) -> Result<(), String> {
    if !tools.may_write() {
        return Ok(());
    }
    let value = |status: &QueueJobStatus| serde_json::to_value(status).map_err(|error| error.to_string());
    let Some(patch) = merge_patch(&value(stored)?, &value(wanted)?) else { return Ok(()) };
    let api: Api<Decoded<QueueJob>> = Api::namespaced(tools.client.clone(), name.namespace.as_str());
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({"status": patch}));
    let answer = ask(CALL, api.patch_status(&name.name, &parameters, &patch)).await;
    tools.metrics.wrote(KIND, answer.result());
    match answer {
        Answer::Done(job) => {
            tools.view.update(|index| Keeps::<Decoded<QueueJob>>::apply(index, &job));
            Ok(())
        }
        Answer::Refused(status) if status.code == 404 => Ok(()),
        Answer::Refused(status) => Err(said(&status)),
        Answer::Unknown(lost) => Err(lost.to_string()),
    }
}
