//! Admission of pods by the policy of the chart: a pod of a namespace in Gate mode is gated when it is created.

use quotient_crds::names::SHARE_GATE;
use serde_json::{Value, json};

use super::State;
use crate::objects::{Key, Kind, object};

impl State {
    /// Gates `pod` if a Queue of its namespace says so, and neither a node nor a DaemonSet has the pod.
    pub(super) fn gate(&self, key: &Key, pod: &mut Value) {
        let mut queues = self.store.list(Kind::Queue, Some(&key.namespace));
        let is_in_gate_mode = queues.any(|(_, queue)| {
            let spec = &queue["spec"];
            spec["admission"] == "Gate" && spec["mode"] != "Observe" && spec["children"].is_null()
        });
        let of_daemon_set = object::controller(pod).is_some_and(|owner| owner["kind"] == "DaemonSet");
        if !is_in_gate_mode || of_daemon_set || pod["spec"]["nodeName"].is_string() || is_gated(pod) {
            return;
        }
        let gates = object::member_mut(pod, "spec").entry("schedulingGates").or_insert_with(|| json!([]));
        if let Some(gates) = gates.as_array_mut() {
            gates.push(json!({"name": SHARE_GATE}));
        }
    }
}

/// Whether the gate of Quotient is there.
pub fn is_gated(pod: &Value) -> bool {
    let gates = pod["spec"]["schedulingGates"].as_array();
    gates.into_iter().flatten().any(|gate| gate["name"] == SHARE_GATE)
}
