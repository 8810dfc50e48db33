//! Raising quotas into what is free: whole units first, then what comes in no units.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::divisible::raise_divisible;
use super::{GrantInput, Loans};
use crate::amounts::{Amount, Amounts, Resource};
use crate::leaf::{Fitting, Leaf, Wanted};
use crate::shares::Fraction;
use crate::tree::Index;

/// The free room, and the part of it that is kept for each queue.
pub(super) struct Free<'a, 'g> {
    pub(super) input: &'g GrantInput<'a>,
    pub(super) firm: &'g mut [Amounts],
    pub(super) owed: &'g mut [Amounts],
    /// What is free now.
    pub(super) now: Amounts,
    /// What will be free besides once all that leave are gone and all lowered quotas are in force.
    pub(super) coming: Amounts,
    /// What is owed in all.
    promised: Amounts,
    /// What is left below the limit of every branch.
    slack: Vec<Amounts>,
}

/// Raises `firm` towards the targets, and takes what that grants out of what is `owed`.
pub(super) fn raise(input: &GrantInput<'_>, firm: &mut [Amounts], owed: &mut [Amounts], loans: &[Loans]) {
    let lacks = |at: &Index| firm.get(*at).is_some_and(|firm| !input.target(*at).less(firm).is_empty());
    let short: Vec<Index> = input.at_leaves().filter(lacks).collect();
    if short.is_empty() {
        return;
    }
    let mut free = Free::of(input, firm, owed, loans);
    let lacking = free.raise_units(&short);
    raise_divisible(&mut free, &short, &lacking);
}

impl<'a, 'g> Free<'a, 'g> {
    fn of(
        input: &'g GrantInput<'a>,
        firm: &'g mut [Amounts],
        owed: &'g mut [Amounts],
        loans: &[Loans],
    ) -> Self {
        let nothing = Amounts::new();
        let mut occupied = vec![Amounts::new(); input.leaves.len()];
        for at in input.at_leaves() {
            let Some((leaf, holder)) = input.leaf(at).zip(input.holder(at)) else { continue };
            let firm = firm.get(at).unwrap_or(&nothing);
            let lent = loans.get(at).map_or(&nothing, |loan| &loan.lent);
            let of_resource = |one: &Resource| {
                // Pods that no node could run take no room.
                let charged = holder.charged(one).less(leaf.unrunnable.get(one));
                // What a quota still allows above all that it is to allow may yet be filled.
                let revoked = holder.hold(one).less(holder.charged(one).max(firm.get(one) + lent.get(one)));
                (one.clone(), charged.max(firm.get(one)) + revoked)
            };
            if let Some(entry) = occupied.get_mut(at) {
                *entry = input.resources.iter().map(of_resource).collect();
            }
        }
        let below = input.tree.sums(occupied);
        let now = input.tree.left(&input.offered.of(input.resources), &below);
        let mut promised = Amounts::new();
        for owed in owed.iter() {
            promised.add_all(owed);
        }
        let slack = input.slack(&below);
        let mut free = Self { slack, coming: Amounts::new(), promised, now, input, firm, owed };
        free.grant_what_is_charged();
        free.now = free.now.less(&nothing);
        let settled = input.tree.sums(input.settled(free.firm));
        free.coming = input.tree.left(&input.capacity.of(input.resources), &settled).less(&free.now);
        free
    }

    /// Raises quotas to what their pods are charged within targets. That costs nothing as long as all that queues occupy has
    /// room: otherwise pods that are seen may be gone, and what they held be in use by others.
    fn grant_what_is_charged(&mut self) {
        let has_room = |one: &Resource| self.now.get(one) >= Amount::ZERO;
        let roomy: Vec<Resource> = self.input.resources.iter().filter(|one| has_room(one)).cloned().collect();
        for at in self.input.at_leaves() {
            let Some((leaf, holder)) = self.input.leaf(at).zip(self.input.holder(at)) else { continue };
            let Some(firm) = self.firm.get_mut(at) else { continue };
            let target = self.input.target(at);
            for one in &roomy {
                let charged = holder.namespace_usage.charged.get(one).less(leaf.unrunnable.get(one));
                firm.set(one, firm.get(one).max(charged.min(target.get(one))));
            }
        }
    }

    /// Unit by unit, as far as each is free as a whole.
    fn raise_units(&mut self, short: &[Index]) -> Vec<Lacking> {
        let mut lists: Vec<Lacking> =
            short.iter().map(|at| Lacking::of(self.input, *at, self.firm)).collect();
        let mut queue: BinaryHeap<Reverse<(Turn, usize)>> = BinaryHeap::new();
        for (number, (at, list)) in short.iter().zip(&lists).enumerate() {
            if !list.left.is_empty() {
                queue.push(Reverse((self.turn(*at), number)));
            }
        }
        while let Some(Reverse((turn, number))) = queue.pop() {
            let Some((at, list)) = short.get(number).copied().zip(lists.get_mut(number)) else { continue };
            let now = self.turn(at);
            if now > turn {
                queue.push(Reverse((now, number)));
                continue;
            }
            if self.grant_next(at, list) {
                queue.push(Reverse((self.turn(at), number)));
            }
        }
        lists
    }

    /// Grants the first unit of `list` that fits. Those that do not will not fit later either.
    fn grant_next(&mut self, at: Index, list: &mut Lacking) -> bool {
        let mut given = None;
        list.left.retain_mut(|(requests, units)| {
            if given.is_some() {
                return true;
            }
            let filled = list.filled.plus(requests);
            let more = self.firm.get(at).map(|firm| filled.less(firm)).unwrap_or_default();
            if !self.has(at, &more) {
                return false;
            }
            given = Some((filled, more));
            *units = units.saturating_sub(1);
            *units > 0
        });
        let Some((filled, more)) = given else { return false };
        list.filled = filled;
        self.grant(at, &more);
        true
    }

    /// What of what is free now the leaf at `at` may have: its own part, and what is not kept for others.
    pub(super) fn available(&self, at: Index) -> Amounts {
        let nothing = Amounts::new();
        let own = self.owed.get(at).unwrap_or(&nothing);
        let of_others = self.promised.less(own);
        let kept = of_others.less(&self.coming);
        let mut available = self.now.less(&kept);
        for (index, _) in self.input.tree.path_up(at) {
            for (one, slack) in self.slack_of(index) {
                available.set(&one, available.get(&one).min(slack));
            }
        }
        available
    }

    fn slack_of(&self, index: Index) -> Vec<(Resource, Amount)> {
        let Some(branch) = self.input.tree.branches.get(index).filter(|branch| !branch.is_leaf()) else {
            return Vec::new();
        };
        let slack = |one: &Resource| self.slack.get(index).map(|slack| slack.get(one)).unwrap_or_default();
        branch.queue.limit.iter().map(|(one, _)| (one.clone(), slack(one))).collect()
    }

    /// What is left of `resource` below the limit of the branch at `at`.
    pub(super) fn slack(&self, at: Index, resource: &Resource) -> Amount {
        let slack = self.slack_of(at).into_iter().find(|(one, _)| one == resource);
        slack.map_or(Amount::MAX, |(_, slack)| slack)
    }

    /// What is free now and kept for no queue.
    pub(super) fn unkept(&self) -> Amounts {
        self.now.less(&self.promised.less(&self.coming))
    }

    fn has(&self, at: Index, more: &Amounts) -> bool {
        more.is_empty() || more.fits_in(&self.available(at))
    }

    pub(super) fn grant(&mut self, at: Index, more: &Amounts) {
        if let Some(firm) = self.firm.get_mut(at) {
            firm.add_all(more);
        }
        if let Some(owed) = self.owed.get_mut(at) {
            let consumed = owed.min(more);
            owed.subtract_all(&consumed);
            self.promised.subtract_all(&consumed);
        }
        self.now.subtract_all(more);
        let path: Vec<Index> = self.input.tree.path_up(at).map(|(index, _)| index).collect();
        for index in path {
            if let Some(slack) = self.slack.get_mut(index) {
                *slack = slack.less(more);
            }
        }
    }

    /// Who is next: below its guarantee, or below a queue that is, before all others; then the least of its target.
    pub(super) fn turn(&self, at: Index) -> Turn {
        let nothing = Amounts::new();
        let firm = self.firm.get(at).unwrap_or(&nothing);
        let target = self.input.target(at);
        let guaranteed = self.input.leaf(at).map(|leaf| &leaf.queue.guaranteed);
        let is_unmet = guaranteed.is_some_and(|guaranteed| {
            guaranteed.iter().any(|(one, amount)| firm.get(one) < amount.min(target.get(one)))
        });
        let part = |one: &Resource| Fraction { part: firm.get(one).units(), whole: target.get(one).units() };
        let least = target.resources().map(part).min().unwrap_or(Fraction { part: 0, whole: 1 });
        (!is_unmet, least, at)
    }
}

type Turn = (bool, Fraction, Index);

/// What the target of one leaf holds beside its pods, and is not granted yet.
pub(super) struct Lacking {
    /// What its pods are charged, with the units that are granted.
    filled: Amounts,
    /// What one unit requests, and how many.
    left: Vec<(Amounts, u32)>,
    /// What comes in no units.
    pub(super) divisible: Amounts,
}

impl Lacking {
    fn of(input: &GrantInput<'_>, at: Index, firm: &[Amounts]) -> Self {
        let wanted = input.leaf(at).map(|leaf| leaf.wanted.as_slice()).unwrap_or_default();
        let mut filled = input.leaf(at).map(Leaf::charged).unwrap_or_default();
        let mut divisible = input.target(at).less(&filled);
        let mut granted = firm.get(at).map(|firm| firm.less(&filled)).unwrap_or_default();
        let fitting = Wanted::fit_all(wanted, &[], &mut divisible, &mut granted);
        for Fitting { wanted, granted, .. } in &fitting {
            filled.add_all(&wanted.requests.times(*granted));
        }
        let left =
            fitting.iter().map(|one| (one.wanted.requests.clone(), one.units.saturating_sub(one.granted)));
        Self { filled, left: left.filter(|(_, count)| *count > 0).collect(), divisible }
    }
}
