//! Removals of scheduling gates.

use quotient_crds::names::SHARE_GATE;
use quotient_engine::plan::{GateRemoval, Plan};
use serde_json::json;

use crate::executor::{Operation, Purpose, Request};

/// The gates that `plan` removes, in its order. The ledger has the amounts that they are within by then. A removal whose answer
/// is lost may admit its pod later than that; the pod is then a loan.
pub(super) fn operations(plan: &Plan) -> Vec<Operation> {
    plan.gate_removals.iter().map(removal).collect()
}

/// Removes the gate of this life of the pod and of no other, if it is where it was seen.
fn removal(GateRemoval { pod, position }: &GateRemoval) -> Operation {
    let gate = format!("/spec/schedulingGates/{}", position.number());
    let patch = vec![
        json!({"op": "test", "path": format!("{gate}/name"), "value": SHARE_GATE}),
        json!({"op": "remove", "path": gate}),
    ];
    Operation::on_pod(Purpose::Gate(pod.clone()), pod, Request::Patch(patch))
}
