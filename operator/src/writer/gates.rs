//! Removing scheduling gates: as many at a time as the API server answers quickly, none without the ledger.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::names::{FIELD_MANAGER, SHARE_GATE};
use quotient_engine::plan::{GateRemoval, Plan, PodId};
use quotient_index::pods::LeanPod;
use quotient_index::{Decoded, Keeps};
use serde_json::json;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Tools;
use super::json_patch::json_patch;
use super::retry::Retries;
use crate::answer::{Answer, Lost, ask_object, said};

/// How long one removal may take.
const CALL: Duration = Duration::from_secs(5);

/// For how long one cycle begins removals. Then the next cycle comes, which sees what has changed meanwhile.
const CYCLE: Duration = Duration::from_millis(250);

/// How many are under way at a time: a removal is one small write, and takes the API server some milliseconds.
const PARALLEL: usize = 32;

/// What metrics call a removal.
const KIND: &str = "scheduling_gate";

/// Removes gates.
pub(super) struct GateRemover {
    tools: Tools,
    retries: Retries<PodId>,
    /// When more of the last plan's removals may be begun than one cycle had time for.
    unfinished: Option<Instant>,
}

impl GateRemover {
    pub(super) const fn new(tools: Tools) -> Self {
        Self { tools, retries: Retries::new(), unfinished: None }
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.retries.next().into_iter().chain(self.unfinished).min()
    }

    /// Removes the gates that `plan` removes, in its order. Returns when every call was answered or timed out.
    ///
    /// The amounts that they are within are in the ledger by then. A call whose answer is lost may let in its pod later than
    /// that; the pod is then a loan.
    pub(super) async fn remove(&mut self, plan: &Plan) {
        let wanted: BTreeSet<&PodId> = plan.gate_removals.iter().map(|removal| &removal.pod).collect();
        self.retries.retain(|pod| wanted.contains(pod));
        let began = Instant::now();
        let is_due = |removal: &&GateRemoval| !self.retries.is_waiting(&removal.pod, began);
        let mut due: VecDeque<GateRemoval> = plan.gate_removals.iter().filter(is_due).cloned().collect();
        let mut calls = FuturesUnordered::new();
        let mut removed: usize = 0;
        loop {
            while calls.len() < PARALLEL && began.elapsed() < CYCLE && self.tools.may_write() {
                let Some(removal) = due.pop_front() else { break };
                calls.push(remove_one(self.tools.clone(), removal));
            }
            let Some((removal, answer)) = calls.next().await else { break };
            self.tools.beat.now();
            removed = removed.saturating_add(usize::from(matches!(answer, Answer::Done(_))));
            self.note(&removal.pod, answer);
        }
        self.unfinished = (!due.is_empty()).then_some(began);
        if removed > 0 {
            info!(pods = removed, "removed the scheduling gates of pods");
        }
    }

    fn note<T>(&mut self, pod: &PodId, answer: Answer<T>) {
        let named = format!("{}/{}", pod.namespace, pod.name);
        match answer {
            Answer::Done(_) => self.retries.clear(pod),
            // The pod is gone, or the gate: the watch shows it.
            Answer::Refused(status) if matches!(status.code, 404 | 409 | 422) => {
                debug!(pod = named, why = said(&status), "the gate of a pod is not there any more");
                self.retries.failed(pod, said(&status), false, Instant::now());
            }
            Answer::Refused(status) => {
                warn!(pod = named, error = said(&status), "the gate of a pod was not removed");
                self.retries.failed(pod, said(&status), true, Instant::now());
            }
            Answer::Unknown(lost) => {
                warn!(pod = named, error = %lost, "whether the gate of a pod was removed is not known");
                self.retries.failed(pod, lost.to_string(), false, Instant::now());
            }
        }
    }
}

/// Removes the gate of this life of the pod and of no other, if it is where it was seen. The view shows it at once.
async fn remove_one(tools: Tools, removal: GateRemoval) -> (GateRemoval, Answer<LeanPod>) {
    let api: Api<Decoded<LeanPod>> = Api::namespaced(tools.client.clone(), removal.pod.namespace.as_str());
    let parameters = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let answer = match patch(&removal) {
        Ok(patch) => {
            let name = removal.pod.name.as_str();
            ask_object(CALL, api.patch(name, &parameters, &patch)).await
        }
        Err(error) => Answer::Unknown(Lost::Connection(error.to_string())),
    };
    tools.metrics.wrote(KIND, answer.result());
    if let Answer::Done(pod) = &answer {
        tools.view.update(|index| Keeps::<LeanPod>::apply(index, pod));
    }
    (removal, answer)
}

fn patch(removal: &GateRemoval) -> Result<Patch<()>, serde_json::Error> {
    let gate = format!("/spec/schedulingGates/{}", removal.position.number());
    json_patch(vec![
        json!({"op": "test", "path": "/metadata/uid", "value": removal.pod.uid.as_str()}),
        json!({"op": "test", "path": format!("{gate}/name"), "value": SHARE_GATE}),
        json!({"op": "remove", "path": gate}),
    ])
}
