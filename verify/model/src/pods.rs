//! The pods of one queue, as sets of ids.

/// The pods of one queue. Each requests one unit; a lower id is an older pod, and none is ever used again while
/// it is remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pods {
    /// Created, and gated: they use nothing.
    pub gated: u16,
    /// Created, on no node yet.
    pub pending: u16,
    /// On a node.
    pub running: u16,
    /// On their way out; they hold what they request until they are gone.
    pub terminating: u16,
}

impl Pods {
    /// The `count` oldest ids, all of them on nodes.
    pub const fn running(count: u8) -> Self {
        Self { gated: 0, pending: 0, running: first(count), terminating: 0 }
    }

    /// Every id in use.
    pub const fn all(self) -> u16 {
        self.gated | self.pending | self.running | self.terminating
    }

    /// Those that are neither gated nor terminating.
    pub const fn staying(self) -> u16 {
        self.pending | self.running
    }

    /// What its queue uses.
    pub const fn charged(self) -> u8 {
        count(self.pending | self.running | self.terminating)
    }

    /// Removes the gate of these pods. Those that have none make no difference. Returns how many had one.
    pub const fn let_in(&mut self, pods: u16) -> u8 {
        let hit = pods & self.gated;
        self.gated &= !hit;
        self.pending |= hit;
        count(hit)
    }

    /// Asks `pods` to leave. One that waits for a node is gone at once, as the API server does it; those that are not
    /// there, or leave already, make no difference. Returns how many were asked that had not been.
    pub const fn evict(&mut self, pods: u16) -> u8 {
        let hit = pods & self.staying();
        self.pending &= !hit;
        self.terminating |= self.running & hit;
        self.running &= !hit;
        count(hit)
    }
}

/// The `count` lowest ids.
const fn first(count: u8) -> u16 {
    (1 << count) - 1
}

/// How many ids are in the set.
pub const fn count(set: u16) -> u8 {
    set.count_ones().to_le_bytes()[0]
}

/// The ids in the set, oldest first.
pub fn ids(set: u16) -> impl DoubleEndedIterator<Item = u8> {
    (0..16).filter(move |id| set & (1 << id) != 0)
}
