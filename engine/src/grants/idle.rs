//! The idle part: capacity without demand, lent to queues until there is demand for it.
//!
//! ```text
//! C ├── Σ max(D, charged) ──┼── given: sticks to whoever holds it ──┼── unassigned: grows any quota in one write ──┤
//!                            └──────────────── X, the idle capacity ──────────────────────────────────────────────┘
//! ```
//!
//! Half of it is given, and a queue that has used up its part is given more. What a queue holds of it is what its quota
//! allows above its share, so nothing has to be remembered, and a pod that starts rewrites no quota: demand rises, the
//! part falls, their sum stays.

use std::cmp::Ordering;

use super::Holder;
use crate::amounts::{Amount, Amounts, Resource};
use crate::shares::{Pour, Room, get, sums};
use crate::tree::{Index, Tree};

/// The idle part of every leaf; an entry a branch, nothing for parents.
///
/// With what everybody deserves or is charged it never exceeds the capacity, nor a limit on a queue's path.
pub(crate) fn idle_parts(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    deserved: &[Amounts],
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<Amounts> {
    let mut parts = vec![Amounts::new(); tree.branches.len()];
    for resource in resources.iter().filter(|resource| capacity.offers(resource)) {
        let mut idle = Idle::new(tree, holders, deserved, resource, capacity.get(resource));
        idle.fit();
        idle.serve_takers();
        idle.fill_up();
        idle.renew();
        for (amounts, part) in parts.iter_mut().zip(&idle.part) {
            amounts.set(resource, *part);
        }
    }
    parts
}

/// The idle capacity of one resource in the making; every list has an entry a branch.
struct Idle<'a> {
    tree: &'a Tree<'a>,
    resource: &'a Resource,
    /// The idle capacity below each branch with a limit, and everywhere.
    below: Vec<Option<Amount>>,
    everywhere: Amount,
    /// The most that a leaf's own limit lets it have.
    most: Vec<Amount>,
    deserved: Vec<Amount>,
    weight: Vec<i128>,
    /// What leaves hold of it.
    part: Vec<Amount>,
    /// What leaves need above what their quota allows.
    need: Vec<Amount>,
    /// The leaves that something was taken from last.
    last_source: Option<Index>,
}

impl<'a> Idle<'a> {
    fn new(
        tree: &'a Tree<'a>,
        holders: &[Option<Holder<'_>>],
        deserved: &[Amounts],
        resource: &'a Resource,
        capacity: Amount,
    ) -> Self {
        let length = tree.branches.len();
        let mut occupied = vec![Amount::ZERO; length];
        let mut idle = Self {
            tree,
            resource,
            below: vec![None; length],
            everywhere: Amount::ZERO,
            most: vec![Amount::ZERO; length],
            deserved: deserved.iter().map(|deserved| deserved.get(resource)).collect(),
            weight: tree.branches.iter().map(|branch| i128::from(branch.queue.weight)).collect(),
            part: vec![Amount::ZERO; length],
            need: vec![Amount::ZERO; length],
            last_source: None,
        };
        let mut newcomers = Vec::new();
        for (at, (branch, holder)) in tree.branches.iter().zip(holders).enumerate() {
            let Some(holder) = holder else { continue };
            let deserved = deserved.get(at).map(|deserved| deserved.get(resource)).unwrap_or_default();
            set(&mut occupied, at, deserved.max(holder.headcount.charged.get(resource)));
            let most = branch.limit(resource).less(deserved);
            set(&mut idle.most, at, most);
            match holder.written(resource) {
                None => newcomers.push(at),
                Some(written) => {
                    set(&mut idle.part, at, written.less(deserved).min(most));
                    set(&mut idle.need, at, deserved.less(written));
                }
            }
        }
        let occupied = sums(tree, occupied);
        let held: Amount = tree.roots.iter().map(|root| get(&occupied, *root)).sum();
        idle.everywhere = capacity.less(held);
        for (at, branch) in tree.branches.iter().enumerate() {
            let limited = !branch.is_leaf() && branch.limit(resource) < Amount::MAX;
            if let Some(entry) = idle.below.get_mut(at).filter(|_| limited) {
                *entry = Some(branch.limit(resource).less(get(&occupied, at)));
            }
        }
        idle.welcome(&newcomers);
        idle
    }

    /// Gives queues without a quota what they would have if everything were handed out anew, as far as that is left.
    fn welcome(&mut self, newcomers: &[Index]) {
        if newcomers.is_empty() {
            return;
        }
        let anew = self.filled_up(&vec![Amount::ZERO; self.part.len()]);
        for at in newcomers {
            let part = get(&anew, *at).min(self.left(*at));
            set(&mut self.part, *at, part);
        }
    }

    /// Takes what is held too much, below every limit and everywhere.
    fn fit(&mut self) {
        let held = sums(self.tree, self.part.clone());
        let limits: Vec<(Index, Amount)> = self
            .below
            .iter()
            .enumerate()
            .rev()
            .filter_map(|(at, idle)| Some((at, (*idle)?)))
            .filter(|(at, idle)| get(&held, *at) > *idle)
            .collect();
        for (at, idle) in limits {
            self.cut(Some(at), idle);
        }
        self.cut(None, self.everywhere);
    }

    /// Leaves no more than `idle` with the leaves below `top`: whoever holds most of it per weight gives first, and
    /// all of it before the next.
    fn cut(&mut self, top: Option<Index>, idle: Amount) {
        let inside = |at: Index| top.is_none_or(|top| self.tree.path_up(at).any(|(index, _)| index == top));
        let mut holders: Vec<Index> =
            (0..self.part.len()).filter(|at| get(&self.part, *at).is_positive() && inside(*at)).collect();
        let mut excess = holders.iter().map(|at| get(&self.part, *at)).sum::<Amount>().less(idle);
        if excess.is_zero() {
            return;
        }
        holders.sort_by(|a, b| self.per_weight(*b, *a).then(a.cmp(b)));
        for at in holders {
            if excess.is_zero() {
                break;
            }
            let part = get(&self.part, at);
            let taken = part.min(excess);
            set(&mut self.part, at, part - taken);
            excess -= taken;
            self.last_source = Some(at);
        }
    }

    fn per_weight(&self, a: Index, b: Index) -> Ordering {
        let weight = |at: Index| self.weight.get(at).copied().unwrap_or(0);
        let part = |at: Index| get(&self.part, at).units();
        part(a).saturating_mul(weight(b)).cmp(&part(b).saturating_mul(weight(a)))
    }

    /// Gives queues that need more than their quota allows up to as much again, out of what is unassigned and of what
    /// the last one that was taken from still holds: its quota is written anyway.
    fn serve_takers(&mut self) {
        for at in 0..self.part.len() {
            let wanted = get(&self.need, at).min(get(&self.most, at));
            if !wanted.is_positive() {
                continue;
            }
            let part = wanted.min(self.left(at));
            set(&mut self.part, at, part);
            if let Some(source) = self.last_source.filter(|source| *source != at) {
                let kept = get(&self.part, source);
                set(&mut self.part, source, Amount::ZERO);
                let more = (wanted - part).min(kept).min(self.left(at));
                set(&mut self.part, source, kept - more);
                set(&mut self.part, at, part + more);
            }
        }
    }

    /// Where less than a quarter is given, gives half, by weight.
    fn fill_up(&mut self) {
        let given: Amount = self.part.iter().copied().sum();
        if given.units().saturating_mul(4) >= self.everywhere.units() {
            return;
        }
        self.part = self.filled_up(&self.part);
    }

    /// Gives a queue that has used up its part what it would have if everything were handed out anew, out of what is
    /// unassigned and of what others hold beyond that: a creator of pods without an owner can show no demand before there is
    /// room for them.
    fn renew(&mut self) {
        if !self.everywhere.is_positive() {
            return;
        }
        let quantum = Amount::new(self.resource.quantum());
        let used_up: Vec<Index> = self.leaves().filter(|at| get(&self.part, *at) < quantum).collect();
        if used_up.is_empty() {
            return;
        }
        let anew = self.filled_up(&vec![Amount::ZERO; self.part.len()]);
        for at in used_up {
            let part = get(&self.part, at);
            let lacks = get(&anew, at).min(get(&self.most, at)).less(part);
            if lacks.is_zero() || self.is_next_to_nothing(at, lacks) {
                continue;
            }
            // No part is released for what a limit above would keep away.
            let lacks = lacks.min(self.left_below_limits(at));
            self.release(lacks.less(self.left_everywhere()), &anew);
            let more = lacks.min(self.left_everywhere());
            set(&mut self.part, at, part + more);
        }
    }

    /// Takes `amount` from the leaves that hold more than `anew`, the most per weight first.
    fn release(&mut self, mut amount: Amount, anew: &[Amount]) {
        if amount.is_zero() {
            return;
        }
        let mut holders: Vec<Index> = (0..self.part.len()).collect();
        holders.sort_by(|a, b| self.per_weight(*b, *a).then(a.cmp(b)));
        for at in holders {
            if amount.is_zero() {
                return;
            }
            let part = get(&self.part, at);
            let taken = part.less(get(anew, at)).min(amount);
            set(&mut self.part, at, part - taken);
            amount -= taken;
        }
    }

    /// Whether `lacks` is not worth a write: less than a hundredth of what the leaf at `at` deserves, or than a tenth of
    /// what would be its part by weight. What is divided anew leaves a little here and there that no queue waits for.
    fn is_next_to_nothing(&self, at: Index, lacks: Amount) -> bool {
        let weight = |at: Index| self.weight.get(at).copied().unwrap_or(0).max(1);
        let all = self.leaves().map(weight).fold(0i128, i128::saturating_add);
        let a_tenth =
            half(self.everywhere).units().saturating_mul(weight(at)).checked_div(all.saturating_mul(10));
        let a_hundredth = get(&self.deserved, at).units().checked_div(100);
        lacks.units() < a_tenth.max(a_hundredth).unwrap_or(0)
    }

    /// Half of all on top of `parts`, by weight.
    fn filled_up(&self, parts: &[Amount]) -> Vec<Amount> {
        let given: Amount = parts.iter().copied().sum();
        let most = |at: Index| get(&self.most, at).less(get(parts, at));
        let more = self.poured(half(self.everywhere).less(given), parts, &most);
        let mut filled = parts.to_vec();
        for at in self.leaves() {
            set(&mut filled, at, get(parts, at) + get(&more, at));
        }
        filled
    }

    fn leaves(&self) -> impl Iterator<Item = Index> {
        self.tree.branches.iter().enumerate().filter(|(_, branch)| branch.is_leaf()).map(|(at, _)| at)
    }

    /// `amount`, poured to the leaves on top of what each has, at most `most` each.
    fn poured(&self, amount: Amount, have: &[Amount], most: &dyn Fn(Index) -> Amount) -> Vec<Amount> {
        let have = sums(self.tree, have.to_vec());
        let branches = self.tree.branches.iter().enumerate();
        let all = branches.map(|(at, leaf)| if leaf.is_leaf() { most(at) } else { Amount::ZERO }).collect();
        let slack = |at: Index| {
            self.below.get(at).copied().flatten().map_or(Amount::MAX, |idle| idle.less(get(&have, at)))
        };
        let room = Room::within(self.tree, all, slack);
        // Nobody waits for it: in whole quanta, so that quotas stay readable.
        let beyond = amount.units().checked_rem(self.resource.quantum()).unwrap_or(0);
        Pour { tree: self.tree, resource: self.resource, have: &have, weight: &self.weight }
            .out(amount - Amount::new(beyond), &room)
    }

    /// What is left for the leaf at `at`, everywhere and below every limit on its path.
    fn left(&self, at: Index) -> Amount {
        self.left_everywhere().min(self.left_below_limits(at))
    }

    fn left_everywhere(&self) -> Amount {
        self.everywhere.less(self.part.iter().copied().sum())
    }

    fn left_below_limits(&self, at: Index) -> Amount {
        let held = sums(self.tree, self.part.clone());
        let below = |(index, _): (Index, _)| {
            self.below.get(index).copied().flatten().map(|idle| idle.less(get(&held, index)))
        };
        self.tree.path_up(at).filter_map(below).fold(Amount::MAX, Amount::min)
    }
}

fn half(amount: Amount) -> Amount {
    Amount::new(amount.units().checked_div(2).unwrap_or(0))
}

fn set(amounts: &mut [Amount], at: Index, amount: Amount) {
    if let Some(entry) = amounts.get_mut(at) {
        *entry = amount;
    }
}
