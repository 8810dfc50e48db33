//! The stamp of targets: a hash of what they are made from, and of nothing that an own eviction changes.

use crate::amounts::{Amounts, Resource};
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::snapshot::Owner;
use crate::stable_hash;
use crate::time::Timestamp;
use crate::tree::BranchMap;

/// The bytes of which the stamp is the hash.
#[derive(Default)]
pub(super) struct Stamp(Vec<u8>);

impl Stamp {
    /// The stamp of targets where all are to have `deserved`.
    pub(super) fn of(cluster: Cluster<'_>, deserved: &BranchMap<Amounts>) -> u64 {
        let mut stamp = Self::default();
        stamp.amounts(cluster.capacity);
        for (at, branch) in cluster.tree.branches.iter() {
            stamp.text(branch.name.namespace.as_str());
            stamp.text(&branch.name.name);
            stamp.number(branch.queue.weight.into());
            stamp.amounts(&deserved[at]);
            for (resource, limit) in branch.queue.limit.iter().chain(branch.queue.guaranteed.iter()) {
                stamp.amount(resource, limit.units());
            }
            stamp.number(cluster.leaf(at).map_or(0, wanted));
        }
        stamp.hash()
    }

    fn hash(self) -> u64 {
        stable_hash(self.0)
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
    }

    fn amount(&mut self, resource: &Resource, units: i128) {
        self.text(resource.name());
        self.0.extend(units.to_le_bytes());
    }

    fn amounts(&mut self, amounts: &Amounts) {
        for (resource, amount) in amounts.iter() {
            self.amount(resource, amount.units());
        }
        self.number(amounts.iter().count().try_into().unwrap_or(u64::MAX));
    }
}

/// What the owners of a leaf want and some node could run, in whatever order: an eviction changes nothing of it.
fn wanted(leaf: &Leaf<'_>) -> u64 {
    let hash = |owner: &Owner| {
        let mut stamp = Stamp::default();
        stamp.amounts(&owner.shape.requests);
        stamp.hash().wrapping_mul(owner.rightful().into())
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
