//! Quotas of Queues that have lost their share.

use std::collections::BTreeMap;

use super::quota_writes::{is_left_alone, quota_write};
use crate::names::QueueName;
use crate::plan::{QuotaWrite, Reach};
use crate::snapshot::Snapshot;
use crate::tree::Tree;

/// The writes that restore the quotas of Queues without a share to what was granted last.
///
/// A Queue loses its share when its parent is gone, or its spec becomes invalid. A quota that was never granted anything is
/// not written.
pub(super) fn retained(snapshot: &Snapshot, tree: &Tree<'_>) -> BTreeMap<QueueName, QuotaWrite> {
    let mut retained = BTreeMap::new();
    for (namespace, state) in &snapshot.namespaces {
        let Some(queue) = state.governing().filter(|_| !tree.leaves.contains_key(namespace)) else {
            continue;
        };
        // In Gate mode the ledger alone says what was granted.
        let kept = state.quota.as_ref().filter(|quota| quota.ours && !state.is_in_gate_mode());
        let Some(quota) = kept else { continue };
        let name = QueueName::new(namespace.clone(), queue.name.clone());
        let reach = Reach::of_operator(&snapshot.settings).below(&name, queue, snapshot.now);
        let write = quota_write(Some(quota), queue, quota.allocated().clone());
        if !is_left_alone(&reach, Some(quota), write.as_ref()) {
            retained.extend(write.map(|write| (name, write)));
        }
    }
    retained
}
