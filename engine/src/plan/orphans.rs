//! Quotas of ours that no Queue is left for.

use std::collections::BTreeMap;

use super::Orphan;
use crate::amounts::{Bounds, Resource};
use crate::census::Census;
use crate::names::Namespace;
use crate::snapshot::{Queue, Snapshot};
use crate::tree::Tree;

/// What to do with quotas of ours in namespaces without a Queue that governs them.
///
/// Such a quota is lowered to what is charged, never raised: removing it would open the namespace. One whose Queue
/// asked for it is removed. A Queue that is there and has no share keeps what it was granted.
pub(super) fn orphans(
    snapshot: &Snapshot,
    census: &Census<'_>,
    tree: &Tree<'_>,
    resources: &[Resource],
) -> BTreeMap<Namespace, Orphan> {
    let governs = |queue: &Queue| queue.children.is_none();
    let mut orphans = BTreeMap::new();
    for (name, state) in &snapshot.namespaces {
        let Some(quota) = state.quota.as_ref().filter(|quota| quota.ours) else { continue };
        if tree.leaves.contains_key(name) {
            continue;
        }
        if state.queues.iter().any(governs) {
            let granted = quota.allocated();
            if quota.unstamped || quota.hard != *granted {
                orphans.insert(name.clone(), Orphan::Renew(granted.clone()));
            }
            continue;
        }
        if quota.goes_with_queue {
            orphans.insert(name.clone(), Orphan::Remove);
            continue;
        }
        let charged =
            census.namespaces.get(name).map(|headcount| headcount.charged.clone()).unwrap_or_default();
        let lowered = |(resource, amount)| {
            let least = if resources.contains(resource) { charged.get(resource).min(amount) } else { amount };
            (resource.clone(), least)
        };
        let hard: Bounds = quota.hard.iter().map(lowered).collect();
        if hard != quota.hard {
            orphans.insert(name.clone(), Orphan::Lower(hard));
        } else if quota.unstamped && !hard.is_empty() {
            orphans.insert(name.clone(), Orphan::Renew(hard));
        }
    }
    orphans
}
