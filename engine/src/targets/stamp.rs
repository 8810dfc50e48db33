//! The stamp of targets: a hash of what they are made from, and of nothing that an own eviction changes.

use crate::amounts::{Amounts, Resource};
use crate::leaf::Leaf;
use crate::tree::Tree;

/// A hash that is the same on every machine and in every version: FNV-1a of 64 bits.
#[derive(Clone, Copy)]
pub(super) struct Stamp(u64);

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Stamp {
    /// The stamp of targets for `short` leaves, those that lack some of what they ask for, where all are to have
    /// `deserved`.
    pub(super) fn of(
        tree: &Tree<'_>,
        short: &[Option<&Leaf<'_>>],
        deserved: &[Amounts],
        capacity: &Amounts,
    ) -> u64 {
        let mut stamp = Self(OFFSET);
        stamp.amounts(capacity);
        for ((branch, leaf), deserved) in tree.branches.iter().zip(short).zip(deserved) {
            stamp.text(branch.name.namespace.as_str());
            stamp.text(&branch.name.name);
            stamp.number(branch.queue.weight.into());
            stamp.amounts(deserved);
            for (resource, limit) in branch.queue.limit.iter().chain(branch.queue.guaranteed.iter()) {
                stamp.amount(resource, limit.units());
            }
            stamp.number(leaf.map_or(0, units));
        }
        stamp.0
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0]);
    }

    fn amount(&mut self, resource: &Resource, units: i128) {
        self.text(resource.name());
        self.bytes(&units.to_le_bytes());
    }

    fn amounts(&mut self, amounts: &Amounts) {
        for (resource, amount) in amounts.iter() {
            self.amount(resource, amount.units());
        }
        self.number(amounts.iter().count().try_into().unwrap_or(u64::MAX));
    }
}

/// The units that a leaf wants, in whatever order: those that are there and those that its owners lack alike, so that an
/// eviction that is made good by the owner changes nothing.
fn units(leaf: &Leaf<'_>) -> u64 {
    let hash = |requests: &Amounts| {
        let mut stamp = Stamp(OFFSET);
        stamp.amounts(requests);
        stamp.0
    };
    let there = leaf.state.pods.iter().filter(|pod| pod.is_live()).map(|pod| hash(pod.requests()));
    let lacking = leaf.demand.asks.iter().map(|ask| {
        hash(&ask.owner.shape.requests).wrapping_mul(ask.counted().into())
    });
    there.chain(lacking).fold(0, u64::wrapping_add)
}
