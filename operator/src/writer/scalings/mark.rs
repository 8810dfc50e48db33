//! Marks: which pods of a `ReplicaSet` go first.

use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::names::{DELETION_COST_ANNOTATION, FIELD_MANAGER};
use quotient_engine::plan::{PodId, Scaling};
use quotient_index::Decoded;
use quotient_index::pods::LeanPod;
use serde_json::json;

use super::{CALL, Outcome};
use crate::answer::{Answer, ask_object, said};
use crate::rights::Feature;
use crate::writer::Tools;

/// What metrics call a write of a mark.
const KIND: &str = "pod_mark";

/// What becomes of a pod's mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// The pod is to go before others.
    Set,
    /// It is like others again.
    Lifted,
}

impl Mark {
    /// Sets or lifts the mark of this life of the pod and of no other.
    pub(super) async fn put(self, tools: &Tools, pod: &PodId) -> Outcome {
        if !tools.may_write() {
            return Outcome::Skipped;
        }
        let cost = (self == Self::Set).then(|| Scaling::MARK.to_string());
        let body = Patch::Merge(json!({
            "metadata": {"uid": pod.uid.as_str(), "annotations": {DELETION_COST_ANNOTATION: cost}},
        }));
        let parameters =
            PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let api: Api<Decoded<LeanPod>> = Api::namespaced(tools.client.clone(), pod.namespace.as_str());
        let answer = ask_object(CALL, api.patch(pod.name.as_str(), &parameters, &body)).await;
        tools.metrics.wrote(KIND, answer.result());
        match answer {
            // The answer is not applied: the size is written once the watch has told.
            Answer::Done(_) => Outcome::Written,
            // Another uid is refused as invalid: the pod is gone, and the next plan goes without it.
            Answer::Refused(status) if matches!(status.code, 404 | 409 | 422) => {
                Outcome::Stale(said(&status))
            }
            Answer::Refused(status) => Outcome::Refused(Feature::PatchPods.refused(&status)),
            Answer::Unknown(lost) => Outcome::Unknown(lost.to_string()),
        }
    }
}
