//! One write, and what the API server does with it.

use crate::cluster::{Cluster, Kind, Quota};
use crate::ledger::Ledger;
use crate::numbers::{Generation, PerQueue, Version};
use crate::pods::{count, ids};

/// A request that changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Write {
    /// Replaces the ledger.
    Ledger(LedgerWrite),
    /// Replaces what the quota of a queue allows.
    Quota(usize, QuotaWrite),
    /// Evicts exactly this pod of a queue: the request carries its uid.
    Evict(usize, u8),
    /// Removes the gate of exactly this pod of a queue: the request tests its uid and its gate.
    LetIn(usize, u8),
}

/// A new ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerWrite {
    /// The version that it replaces; none if it is created.
    pub based_on: Option<Version>,
    /// What it says.
    pub ledger: Ledger,
}

/// New amounts of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuotaWrite {
    /// What it is to allow.
    pub hard: u8,
    /// Whether that lowers it, as far as its writer knows.
    pub lowers: bool,
    /// The generation to put on it.
    pub generation: Generation,
    /// What has to be there.
    pub based_on: Base,
}

/// The precondition of a quota write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// There is none: the quota is created.
    Absent,
    /// It carries this generation.
    Stamped(Generation),
    /// Whatever is there: read a moment before, and written with its resource version.
    Anything,
    /// Whatever generation it is seen with when the write is sent, if that is no later than this one.
    UpTo(Generation),
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// Its precondition does not hold.
    Conflict,
    /// There was nothing to do: the pod is gone, or on its way.
    Nothing,
}

impl Write {
    /// Carries the write out on `cluster`; `fresh` is an unknown version.
    pub fn land(&self, cluster: &mut Cluster, fresh: Version) -> Outcome {
        match *self {
            Self::Ledger(write) => {
                if cluster.ledger.map(|ledger| ledger.version) != write.based_on {
                    return Outcome::Conflict;
                }
                cluster.ledger = Some(Ledger { version: fresh, ..write.ledger });
                Outcome::Done
            }
            Self::Quota(at, write) => {
                let standing = &mut cluster.quotas[at];
                let holds = match (write.based_on, &standing) {
                    (Base::Absent, None) | (Base::Anything, _) => true,
                    (Base::UpTo(_), _) => unreachable!("it is resolved when it is sent"),
                    (Base::Stamped(generation), Some(quota)) => quota.generation == generation,
                    _ => false,
                };
                if !holds {
                    return Outcome::Conflict;
                }
                // A new quota restricts no pod until its controller has seen it: admission refuses everything.
                let kept = standing.unwrap_or_default();
                *standing = Some(Quota { hard: write.hard, generation: write.generation, ..kept });
                Outcome::Done
            }
            Self::Evict(at, id) => changed(cluster.pods[at].evict(1 << id)),
            Self::LetIn(at, id) => changed(cluster.pods[at].let_in(1 << id)),
        }
    }

    /// What it writes to.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Ledger(_) => Kind::Ledger,
            Self::Quota(..) => Kind::Quotas,
            Self::Evict(..) | Self::LetIn(..) => Kind::Pods,
        }
    }

    /// The write as it is sent by a writer that sees `quotas` now; none if it is not sent at all.
    pub fn sent(self, quotas: &PerQueue<Option<Quota>>) -> Option<Self> {
        let Self::Quota(at, write) = self else { return Some(self) };
        let Base::UpTo(latest) = write.based_on else { return Some(self) };
        let based_on = match quotas[at] {
            None => Base::Absent,
            Some(quota) if quota.generation <= latest => Base::Stamped(quota.generation),
            Some(_) => return None,
        };
        Some(Self::Quota(at, QuotaWrite { based_on, ..write }))
    }

    /// Of an eviction, or the removal of a gate, the set with that one pod; of everything else none.
    pub const fn pod(&self, of: usize) -> u16 {
        match *self {
            Self::Evict(at, id) | Self::LetIn(at, id) if at == of => 1 << id,
            _ => 0,
        }
    }
}

/// What an operator still has to write, in the order of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work {
    /// The ledger first: if another writer wrote it, all of this is void.
    pub ledger: Option<LedgerWrite>,
    /// Then quotas, those that are lowered first.
    pub quotas: PerQueue<Option<QuotaWrite>>,
    /// At last the pods to evict.
    pub evictions: PerQueue<u16>,
    /// Beside them the pods whose gates are removed. Where a difference shows, removals are early.
    pub gates: PerQueue<u16>,
    /// Whether gates are removed before everything else: a protocol that is wrong.
    pub gates_first: bool,
}

impl Work {
    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        *self == Self { gates_first: self.gates_first, ..Self::default() }
    }

    /// The next write.
    pub fn next(&self) -> Option<Write> {
        // That of the oldest pod.
        let gate = first(self.gates).and_then(|(at, pods)| Some(Write::LetIn(at, ids(pods).next()?)));
        let quota = |lowers: bool| {
            let mut quotas = self.quotas.iter().enumerate();
            quotas.find_map(|(at, write)| {
                write.filter(|write| write.lowers == lowers).map(|one| Write::Quota(at, one))
            })
        };
        // The plan names the youngest first.
        let eviction =
            || first(self.evictions).and_then(|(at, pods)| Some(Write::Evict(at, ids(pods).next_back()?)));
        gate.filter(|_| self.gates_first)
            .or(self.ledger.map(Write::Ledger))
            .or_else(|| quota(true))
            .or_else(|| quota(false))
            .or(gate)
            .or_else(eviction)
    }

    /// Crosses the write off.
    pub const fn cross_off(&mut self, write: &Write) {
        match *write {
            Write::Ledger(_) => self.ledger = None,
            Write::Quota(at, _) => self.quotas[at] = None,
            Write::Evict(at, id) => self.evictions[at] &= !(1 << id),
            Write::LetIn(at, id) => self.gates[at] &= !(1 << id),
        }
    }
}

/// What became of a write by which so many pods changed.
const fn changed(pods: u8) -> Outcome {
    if pods == 0 { Outcome::Nothing } else { Outcome::Done }
}

/// The first queue of which there are pods, and these.
fn first(pods: PerQueue<u16>) -> Option<(usize, u16)> {
    pods.into_iter().enumerate().find(|(_, pods)| count(*pods) > 0)
}
