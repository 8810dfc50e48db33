//! One write of one LimitRange, and what its answer tells the view.

use std::time::Duration;

use k8s_openapi::api::core::v1::LimitRange;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use quotient_crds::names::{FIELD_MANAGER, LIMIT_RANGE, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT};
use quotient_engine::amounts::{Amount, Bounds, Resource};
use quotient_index::limit_ranges::LimitRangeDue;
use quotient_index::{Decoded, Index, Keeps, ResourceVersion};
use serde_json::{Map, Value, json};

use super::Tools;
use super::owning_queue::OwningQueue;
use crate::answer::{Answer, ask, ask_object, said};

/// How long one call may take.
const CALL: Duration = Duration::from_secs(5);

/// What metrics call a write of a LimitRange.
const KIND: &str = "limitrange";

/// What became of one write.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It was carried out.
    Done,
    /// It was not tried.
    Skipped,
    /// It was not carried out, or nobody knows.
    Failed {
        /// Why.
        why: String,
        /// Whether the API server decided against it.
        refused: bool,
    },
}

/// Does what is due for `queue` in its namespace.
///
/// Whoever is in the way is never written over: what is not known to be there is created, and what is there is changed only
/// in the life in which it was seen. If that fails, the watch shows why.
pub(super) async fn carry_out(tools: &Tools, queue: OwningQueue<'_>, due: &LimitRangeDue) -> Outcome {
    if !tools.may_write() {
        return Outcome::Skipped;
    }
    let namespace = &queue.name.namespace;
    let api: Api<LimitRange> = Api::namespaced(tools.client.clone(), namespace.as_str());
    let field_manager = Some(FIELD_MANAGER.to_owned());
    match due {
        LimitRangeDue::Create(defaults) => {
            let body = match serde_json::from_value(body(queue, defaults)) {
                Ok(body) => body,
                Err(error) => return unbuilt(&error),
            };
            let parameters = PostParams { field_manager, ..PostParams::default() };
            written(tools, ask(CALL, api.create(&parameters, &body)).await)
        }
        LimitRangeDue::Change { uid, defaults, disowned } => {
            let mut patch = vec![
                json!({"op": "test", "path": "/metadata/uid", "value": &**uid}),
                json!({"op": "add", "path": "/spec/limits", "value": limits(defaults)}),
            ];
            patch.extend(disowned.then(|| queue.own()));
            let patch = match serde_json::from_value(Value::Array(patch)) {
                Ok(patch) => Patch::<()>::Json(patch),
                Err(error) => return unbuilt(&error),
            };
            let parameters = PatchParams { field_manager, ..PatchParams::default() };
            let api: Api<Decoded<LimitRange>> = Api::namespaced(api.into_client(), namespace.as_str());
            written(tools, ask_object(CALL, api.patch(LIMIT_RANGE, &parameters, &patch)).await)
        }
        LimitRangeDue::Delete { uid, resource_version } => {
            let preconditions = Preconditions {
                uid: Some(uid.to_string()),
                resource_version: resource_version.as_ref().map(ResourceVersion::to_string),
            };
            let parameters = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
            let answer = ask(CALL, api.delete(LIMIT_RANGE, &parameters)).await;
            tools.metrics.wrote(KIND, answer.result());
            settled(answer, |deleted| {
                // An object that comes back waits for a finalizer; the watch tells when it is gone.
                if deleted.is_right() {
                    let forget = |index: &mut Index| {
                        Keeps::<LimitRange>::delete(index, namespace.as_str(), LIMIT_RANGE, uid)
                    };
                    tools.view.update(forget);
                }
            })
        }
        LimitRangeDue::Taken => Outcome::Skipped,
    }
}

fn written(tools: &Tools, answer: Answer<LimitRange>) -> Outcome {
    tools.metrics.wrote(KIND, answer.result());
    settled(answer, |object| tools.view.update(|index| Keeps::<LimitRange>::apply(index, &object)))
}

fn settled<T>(answer: Answer<T>, done: impl FnOnce(T)) -> Outcome {
    match answer {
        Answer::Done(object) => {
            done(object);
            Outcome::Done
        }
        Answer::Refused(status) => Outcome::Failed { why: said(&status), refused: true },
        Answer::Unknown(lost) => Outcome::Failed { why: lost.to_string(), refused: false },
    }
}

fn unbuilt(error: &serde_json::Error) -> Outcome {
    Outcome::Failed { why: format!("build the LimitRange: {error}"), refused: true }
}

fn body(queue: OwningQueue<'_>, defaults: &Bounds) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {
            "name": LIMIT_RANGE,
            "namespace": queue.name.namespace.as_str(),
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
            "ownerReferences": queue.references(),
        },
        "spec": {"limits": limits(defaults)},
    })
}

fn limits(defaults: &Bounds) -> Value {
    let text = |(resource, amount): (&Resource, Amount)| {
        (resource.name().to_owned(), Value::String(resource.format(amount)))
    };
    let requests: Map<String, Value> = defaults.iter().map(text).collect();
    json!([{"type": "Container", "defaultRequest": requests}])
}
