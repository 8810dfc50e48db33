//! What is in the namespace of a leaf, and what follows from that alone.

use std::cell::OnceCell;

use crate::amounts::{Amounts, Resource};
use crate::census::{Census, Headcount};
use crate::demand::{Demand, FreeRoom, Stock, Unit, alike, lacking, together};
use crate::reclaim::{self, Keeping};
use crate::shares::Wish;
use crate::snapshot::{
    EvictionPolicy, EvictionRules, GangPolicy, LastReplica, NamespaceState, Queue, Snapshot,
};
use crate::tree::Tree;

/// What is in the namespace of a leaf.
pub(super) struct Leaf<'a> {
    pub(super) queue: &'a Queue,
    pub(super) state: &'a NamespaceState,
    pub(super) headcount: &'a Headcount,
    pub(super) demand: Demand<'a>,
    /// What may be taken from it, inherited rules included.
    pub(super) eviction: EvictionRules,
    /// Whether its pods are never evicted, by policy.
    pub(super) spared: bool,
    /// Its pods and what its owners lack, once somebody has asked for its units.
    there: OnceCell<There<'a>>,
    lacking: OnceCell<Vec<Unit<'a>>>,
}

/// The pods of a leaf.
enum There<'a> {
    /// No order is better than another.
    Alike(Vec<Unit<'a>>),
    Different(Keeping<'a>),
}

impl<'a> Leaf<'a> {
    /// The leaves of the tree; an entry a branch, none for parents.
    pub(super) fn all(
        snapshot: &'a Snapshot,
        census: &'a Census<'a>,
        tree: &Tree<'a>,
        capacity: &Amounts,
    ) -> Vec<Option<Self>> {
        let free = FreeRoom::new(snapshot, census);
        tree.branches
            .iter()
            .map(|branch| {
                let namespace = &branch.name.namespace;
                let state = snapshot.namespaces.get(namespace)?;
                let headcount = census.namespaces.get(namespace)?;
                let queue = branch.queue;
                branch.is_leaf().then(|| Self {
                    queue,
                    state,
                    headcount,
                    demand: Demand::of(queue, state, headcount, capacity, &free, snapshot),
                    eviction: branch.eviction,
                    spared: branch.eviction.policy() == EvictionPolicy::Never,
                    there: OnceCell::new(),
                    lacking: OnceCell::new(),
                })
            })
            .collect()
    }

    /// Whether no pod is evicted for it for now: it has to have been starved for longer, or no node could run its pending
    /// pods.
    pub(super) fn is_to_wait(&self, snapshot: &Snapshot) -> bool {
        if self.queue.is_delayed(snapshot.now) {
            return true;
        }
        let mut asks = self.demand.asks.iter().filter(|ask| ask.counted > 0).peekable();
        asks.peek().is_some() && asks.all(|ask| !snapshot.could_run(&ask.owner.shape))
    }

    /// What it brings to the division of capacity.
    pub(super) fn wish(&self, snapshot: &Snapshot, census: &Census<'_>) -> Wish {
        Wish { asked: self.demand.counted.clone(), held: self.held(snapshot, census) }
    }

    /// Its units, first to be kept first; none if there is room for all of them in `amount`.
    pub(super) fn units_beyond(
        &self,
        amount: &Amounts,
        held: &Amounts,
        ample: Vec<Resource>,
        capacity: &Amounts,
        resources: &[Resource],
        snapshot: &'a Snapshot,
    ) -> Option<Stock<'a>> {
        let lasting = &self.demand.lasting;
        let fits = |resource: &Resource| {
            let wanted = self.demand.known.get(resource).max(self.headcount.charged.get(resource));
            wanted <= amount.get(resource)
        };
        // What is enough only because it cannot be taken is not enough: it was made whole with what others gave.
        let is_kept = |resource: &Resource| {
            let amount = amount.get(resource);
            amount.is_positive() && held.get(resource) >= amount && lasting.get(resource) >= amount
        };
        if resources.iter().all(fits) && !resources.iter().any(is_kept) {
            return None;
        }
        let units = self.units(amount, &ample, capacity, resources, snapshot);
        let lacks = |resource: &Resource| lasting.get(resource) > amount.get(resource) || is_kept(resource);
        Some(Stock { units, gives: resources.iter().any(lacks), receives: !self.spared, ample })
    }

    /// All its units: pods that are there, then what its owners lack; each first to be kept first when it has `amount`.
    fn units(
        &self,
        amount: &Amounts,
        ample: &[Resource],
        capacity: &Amounts,
        resources: &[Resource],
        snapshot: &'a Snapshot,
    ) -> Vec<Unit<'a>> {
        let there = self.there.get_or_init(|| {
            let different = || There::Different(Keeping::of(self.state, self.queue, self.eviction, snapshot));
            alike(self.state).map_or_else(different, There::Alike)
        });
        let mut units = match there {
            There::Alike(units) => units.clone(),
            There::Different(keeping) => {
                // Of what there is nothing, or enough for everybody, no pod has to go.
                let counts = |one: &&Resource| capacity.offers(one) && !ample.contains(one);
                let scarce = resources.iter().filter(counts);
                together(keeping.order(amount, scarce, capacity).into_iter())
            }
        };
        let lacking = self.lacking.get_or_init(|| lacking(self.state, &self.demand));
        let could_run = |unit: &&Unit<'_>| {
            resources.iter().all(|one| capacity.offers(one) || unit.requests.get(one).is_zero())
        };
        units.extend(lacking.iter().filter(could_run));
        units
    }

    /// Whether it says itself which of its pods are never taken, so that their order decides what it holds.
    pub(super) fn keeps_some(&self) -> bool {
        self.eviction.last_replica() == LastReplica::Never || self.eviction.gangs() == GangPolicy::Never
    }

    /// What cannot be taken from it, whatever its share.
    fn held(&self, snapshot: &Snapshot, census: &Census<'_>) -> Amounts {
        if self.spared {
            return self.headcount.all_staying().max(&self.headcount.untakeable);
        }
        let mut held = self.headcount.untakeable.clone();
        held.add_all(&reclaim::never_taken(self.state, self.eviction, snapshot, census));
        held
    }
}
