//! What every queue's quota allows next, and what it is promised (S-PREEMPT §Preemption stage).
//!
//! One step of a level-triggered function, per queue and resource, with D deserved and A what the quota allows:
//!
//! * case 01, D < A: the quota drops to D at once. What nobody uses is free as soon as the lower quota is in
//!   force; what pods still hold is to be preempted.
//! * case 02, D = A: nothing happens.
//! * case 03, D > A: the quota rises at no cost up to what the queue may occupy anyway, and above that by what is
//!   free. The rest is promised: Preempting.

use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Headcount;
use crate::shares::{Level, fill};
use crate::snapshot::Quota;
use crate::tree::{Index, Tree};

/// What is known of one leaf when grants are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) quota: Option<&'a Quota>,
    pub(crate) headcount: &'a Headcount,
}

impl Holder<'_> {
    /// What its quota allows as it was written last; what is charged if it restricts nothing.
    pub(crate) fn allocated(&self, resource: &Resource) -> Amount {
        self.quota
            .and_then(|quota| quota.hard.get(resource))
            .unwrap_or_else(|| self.headcount.charged.get(resource))
    }

    /// The most that it can still occupy, as far as has been observed: its hold.
    pub(crate) fn hold(&self, resource: &Resource) -> Amount {
        let ceiling = self.quota.map(|quota| quota.ceiling(resource)).unwrap_or_default();
        ceiling.max(self.headcount.charged.get(resource))
    }
}

/// The next allocated amounts of every branch: of a leaf its quota, of a parent the sum of its children.
///
/// Keeps Σ max(hold, allocated) ≤ C, and ≤ limit below every queue with one, wherever Σ hold was before: nothing
/// grows but into what is free.
pub(crate) fn grants(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    deserved: &[&Amounts],
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<Amounts> {
    let mut all = vec![Amounts::new(); tree.branches.len()];
    for resource in resources {
        let grants = Grants::of_one(tree, holders, deserved, resource);
        for (amounts, granted) in all.iter_mut().zip(grants.run(capacity.get(resource))) {
            amounts.set(resource, granted);
        }
    }
    all
}

/// Grants of one resource in the making; every list has an entry a branch.
struct Grants<'a> {
    tree: &'a Tree<'a>,
    resource: &'a Resource,
    allocated: Vec<Amount>,
    hold: Vec<Amount>,
    deserved: Vec<Amount>,
    granted: Vec<Amount>,
}

impl<'a> Grants<'a> {
    fn of_one(
        tree: &'a Tree<'a>,
        holders: &[Option<Holder<'_>>],
        deserved: &[&Amounts],
        resource: &'a Resource,
    ) -> Self {
        let of_leaves = |amount: &dyn Fn(&Holder<'_>) -> Amount| -> Vec<Amount> {
            holders.iter().map(|holder| holder.as_ref().map(amount).unwrap_or_default()).collect()
        };
        let allocated = of_leaves(&|holder| holder.allocated(resource));
        let hold = of_leaves(&|holder| holder.hold(resource));
        let deserved: Vec<Amount> = deserved.iter().map(|deserved| deserved.get(resource)).collect();
        // Parents hold nothing themselves, so nothing is granted to them.
        let granted = hold.iter().zip(&deserved).map(|(hold, deserved)| (*hold).min(*deserved)).collect();
        Self { tree, resource, allocated, hold, deserved, granted }
    }

    fn run(mut self, capacity: Amount) -> Vec<Amount> {
        // No capacity in sight is more often a blind operator than an empty cluster: nothing shrinks.
        if capacity.is_zero() {
            return self.sums(&self.allocated);
        }
        let guaranteed: Vec<Amount> = self
            .tree
            .branches
            .iter()
            .zip(&self.deserved)
            .map(|(branch, deserved)| {
                branch.queue.guaranteed.get(self.resource).unwrap_or_default().min(*deserved)
            })
            .collect();
        // Queues behind a fence last: what was evicted for others must not be caught by those who may not evict.
        let fenced: Vec<bool> =
            (0..self.tree.branches.len()).map(|at| self.tree.fence_above(at).is_some()).collect();
        for turn in [false, true] {
            if !fenced.contains(&turn) {
                continue;
            }
            let served = |amounts: &[Amount]| -> Vec<Amount> {
                let all = amounts.iter().zip(&fenced);
                all.map(|(amount, fenced)| if *fenced == turn { *amount } else { Amount::ZERO }).collect()
            };
            let (guaranteed, deserved) = (served(&guaranteed), served(&self.deserved));
            self.raise(capacity, &guaranteed);
            self.raise(capacity, &deserved);
        }
        self.sums(&self.granted)
    }

    /// Raises leaves towards `target` out of what is free, the lowest granted/deserved first, level by level.
    fn raise(&mut self, capacity: Amount, target: &[Amount]) {
        let occupied: Vec<Amount> =
            self.hold.iter().zip(&self.granted).map(|(hold, granted)| *hold.max(granted)).collect();
        let occupied = self.sums(&occupied);
        let granted = self.sums(&self.granted);
        // What each may still receive: a leaf what it misses, a parent what its children miss within its limit.
        let mut room = vec![Amount::ZERO; self.tree.branches.len()];
        for (at, branch) in self.tree.branches.iter().enumerate().rev() {
            let missing = if branch.is_leaf() {
                get(target, at).less(get(&self.granted, at))
            } else {
                branch.children.iter().map(|child| get(&room, *child)).sum()
            };
            let slack = branch.limit(self.resource).less(get(&occupied, at));
            // A leaf's own limit is in its deserved share already, and below its hold a raise costs nothing.
            let most = if branch.is_leaf() { missing } else { missing.min(slack) };
            if let Some(entry) = room.get_mut(at) {
                *entry = most;
            }
        }
        let held: Amount = self.tree.roots.iter().map(|root| get(&occupied, *root)).sum();
        let mut received = vec![Amount::ZERO; self.tree.branches.len()];
        self.hand_out(&self.tree.roots, capacity.less(held), &granted, &room, &mut received);
        for (at, branch) in self.tree.branches.iter().enumerate() {
            let amount = get(&received, at);
            if branch.is_leaf() {
                if let Some(entry) = self.granted.get_mut(at) {
                    *entry += amount;
                }
            } else {
                self.hand_out(&branch.children, amount, &granted, &room, &mut received);
            }
        }
    }

    /// Hands `free` out among `siblings`.
    fn hand_out(
        &self,
        siblings: &[Index],
        free: Amount,
        granted: &[Amount],
        room: &[Amount],
        received: &mut [Amount],
    ) {
        let wanted: Amount = siblings.iter().map(|at| get(room, *at)).sum();
        let quantum = self.resource.quantum();
        let whole = |amount: Amount| amount.units().checked_div(quantum).unwrap_or(0);
        let quanta = if wanted <= free {
            Vec::new()
        } else {
            let levels: Vec<Level> = siblings
                .iter()
                .map(|at| Level {
                    have: whole(get(granted, *at)),
                    room: whole(get(room, *at) + Amount::new(quantum.saturating_sub(1))),
                    weight: whole(get(&self.deserved, *at)).max(1),
                })
                .collect();
            fill(whole(free), &levels)
        };
        for (position, at) in siblings.iter().enumerate() {
            let most = get(room, *at);
            let given = quanta
                .get(position)
                .map_or(most, |quanta| Amount::new(quanta.saturating_mul(quantum)).min(most));
            if let Some(entry) = received.get_mut(*at) {
                *entry = given;
            }
        }
    }

    /// The amounts of leaves, and for parents the sums of their children.
    fn sums(&self, of_leaves: &[Amount]) -> Vec<Amount> {
        let mut sums = of_leaves.to_vec();
        for (at, branch) in self.tree.branches.iter().enumerate().rev() {
            if !branch.is_leaf() {
                let sum = branch.children.iter().map(|child| get(&sums, *child)).sum();
                if let Some(entry) = sums.get_mut(at) {
                    *entry = sum;
                }
            }
        }
        sums
    }
}

fn get(amounts: &[Amount], at: Index) -> Amount {
    amounts.get(at).copied().unwrap_or_default()
}
