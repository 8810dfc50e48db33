//! What a plan has to remember is kept in the Queues' statuses.

use std::sync::Arc;

use quotient_engine::plan::Plan;
use quotient_engine::snapshot::{Queue, Snapshot};

/// Copies what `plan` remembers of each queue to where the next plan looks for it.
pub(super) fn keep(snapshot: &mut Snapshot, plan: &Plan) {
    for (name, decided) in &plan.queues {
        let Some(state) = snapshot.namespaces.get_mut(&name.namespace) else { continue };
        let other = |queue: &Queue| {
            queue.uid == decided.uid && queue.name == name.name && queue.remembered != decided.remember
        };
        let Some(at) = state.queues.iter().position(other) else { continue };
        if let Some(queue) = Arc::make_mut(state).queues.get_mut(at) {
            queue.remembered = decided.remember.clone();
        }
    }
}
