//! The stamp of targets: a hash of what they are made from, and of nothing that an own eviction changes.

use std::hash::{Hash, Hasher};

use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::snapshot::Owner;
use crate::snapshot::StableHasher;
use crate::time::Timestamp;
use crate::tree::BranchMap;

/// The stamp of targets where all are to have `deserved`.
pub(super) fn stamp(cluster: Cluster<'_>, deserved: &BranchMap<Amounts>) -> u64 {
    let mut hasher = StableHasher::default();
    cluster.capacity.hash(&mut hasher);
    for (at, branch) in cluster.tree.branches.iter() {
        let queue = branch.queue;
        (&branch.name, queue.weight, &deserved[at]).hash(&mut hasher);
        (&queue.limit, &queue.guaranteed, cluster.leaf(at).map_or(0, wanted)).hash(&mut hasher);
    }
    hasher.finish()
}

/// What the owners of a leaf want and some node could run, in whatever order: an eviction changes nothing of it.
fn wanted(leaf: &Leaf<'_>) -> u64 {
    let hash = |owner: &Owner| {
        let mut hasher = StableHasher::default();
        (&owner.shape.requests, owner.gang.as_ref().map(|gang| gang.min_available)).hash(&mut hasher);
        hasher.finish().wrapping_mul(owner.rightful().into())
    };
    let runnable = leaf.state.owners.iter().filter(|owner| leaf.could_run_shape(&owner.shape));
    runnable.map(hash).fold(0, u64::wrapping_add)
}

/// When the newest pod without a controller was created. Such a pod is not created again, so an eviction changes how many there
/// are; only a new one is a change from outside.
pub(super) fn newest_bare_pod(cluster: Cluster<'_>) -> Option<Timestamp> {
    let pods = cluster.each_leaf().flat_map(|leaf| &leaf.state.pods);
    pods.filter(|pod| pod.is_charged() && pod.owner().is_none()).map(|pod| pod.created).max()
}
