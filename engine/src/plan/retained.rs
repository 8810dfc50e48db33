//! Quotas of Queues that have lost their share.

use std::collections::BTreeMap;

use super::QuotaWrite;
use super::quota_writes::quota_write;
use crate::names::QueueName;
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
        let Some(quota) = state.quota.as_ref().filter(|quota| quota.ours) else { continue };
        let write = quota_write(Some(quota), queue, quota.allocated().clone());
        retained.extend(write.map(|write| (QueueName::new(namespace.clone(), queue.name.clone()), write)));
    }
    retained
}
