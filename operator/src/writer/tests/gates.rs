//! Removals of gates: what their answers may change.

use k8s_openapi::api::core::v1::Pod;
use quotient_engine::plan::{GateRemoval, Plan, PodId};
use quotient_engine::snapshot::{GatePosition, Pod as ObservedPod};
use serde_json::{Value, json};

use super::{NOW, World, node, pod, queue, view};
use crate::executor::Class;
use crate::tests::api::Reply;

/// A pod without a node, with these gates.
fn gated(version: u32, gates: &Value) -> Value {
    let mut object = pod("a", "p");
    object["metadata"]["resourceVersion"] = version.to_string().into();
    object["spec"]["schedulingGates"] = gates.clone();
    object["spec"]["nodeName"] = Value::Null;
    object["status"]["phase"] = "Pending".into();
    object
}

/// What the view has of the pod after its gate was removed: whether it is gated. None if it has no such pod.
async fn removed(deleted_meanwhile: bool) -> Option<bool> {
    let waits = gated(1, &json!([{"name": "quotient.dev/share"}]));
    let view = view(&[node(4), queue("a"), waits]);
    let seen = view.clone();
    let mut it = World::of(view, move |_| {
        if deleted_meanwhile {
            seen.read(|index| index.delete::<Pod>(&(), "a", "p", "uid-p"));
        }
        Reply::Json(200, gated(2, &json!([])))
    });
    let pod = PodId { namespace: "a".into(), name: "p".into(), uid: "uid-p".into() };
    let removal = GateRemoval { pod, position: GatePosition::default() };
    it.writer.only(Class::Gate, &Plan { gate_removals: vec![removal], ..Plan::default() }).await;
    assert_eq!(it.log.lines(), ["PATCH /api/v1/namespaces/a/pods/p"]);
    let snapshot = it.view.read(|index| index.snapshot(NOW));
    snapshot.namespaces[&"a".into()].pods.first().map(ObservedPod::is_gated)
}

#[tokio::test(start_paused = true)]
async fn the_answer_shows_that_the_gate_is_gone() {
    assert_eq!(removed(false).await, Some(false));
}

/// The watch may show the deletion of a pod before the answer to the removal of its gate is read. Nothing would remove the pod
/// again.
#[tokio::test(start_paused = true)]
async fn the_answer_brings_no_deleted_pod_back() {
    assert_eq!(removed(true).await, None);
}
