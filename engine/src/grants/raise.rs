//! Raising quotas into what is free: whole units first, then what comes in no units.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::divisible::raise_divisible;
use super::{GrantInput, Loans};
use crate::amounts::{Amount, Amounts, Resource};
use crate::leaf::{Backlog, Fitting, PendingUnits, Unit};
use crate::shares::{Fraction, in_turns};
use crate::total::total;
use crate::tree::{Branch, BranchId, BranchMap, Room};

/// The free room, and the part of it that is kept for each queue.
pub(super) struct Free<'a, 'g> {
    pub(super) input: &'g GrantInput<'a>,
    pub(super) firm: &'g mut BranchMap<Amounts>,
    pub(super) owed: &'g mut BranchMap<Amounts>,
    /// What is free now.
    pub(super) now: Room<'g>,
    /// What will be free besides once all that leave are gone and all lowered quotas are in force.
    coming: Amounts,
    /// What is owed in all.
    promised: Amounts,
    /// What is granted to each queue so far, and its target; of parents the sums of their children's.
    sums: BranchMap<Amounts>,
    pub(super) target_sums: BranchMap<Amounts>,
}

/// Raises `firm` toward the targets, and takes what that grants out of what is `owed`.
pub(super) fn raise(
    input: &GrantInput<'_>,
    firm: &mut BranchMap<Amounts>,
    owed: &mut BranchMap<Amounts>,
    loans: &BranchMap<Loans>,
) {
    let lacks = |at: &BranchId| !input.targets[*at].less(&firm[*at]).is_empty();
    let short: Vec<BranchId> = input.each_leaf().map(|leaf| leaf.at).filter(lacks).collect();
    if short.is_empty() {
        return;
    }
    let mut free = Free::of(input, firm, owed, loans);
    let lacking = free.raise_units(&short);
    raise_divisible(&mut free, &lacking);
}

impl<'a, 'g> Free<'a, 'g> {
    fn of(
        input: &'g GrantInput<'a>,
        firm: &'g mut BranchMap<Amounts>,
        owed: &'g mut BranchMap<Amounts>,
        loans: &BranchMap<Loans>,
    ) -> Self {
        let occupied = input.of_leaves(|leaf| {
            let of_resource = |one: &Resource| {
                let (firm, lent) = (firm[leaf.at].get(one), loans[leaf.at].lent.get(one));
                // Pods that no node could run take no room.
                let charged = leaf.admitted(one).less(leaf.unrunnable.get(one));
                // What a quota still allows above all that it is to allow may yet be filled.
                let revoked = leaf.hold(one).less(leaf.admitted(one).max(firm + lent));
                (one.clone(), charged.max(firm) + revoked)
            };
            input.resources.iter().map(of_resource).collect()
        });
        let now = input.left(input.offered, input.tree.sums(occupied));
        let promised = total(owed.values());
        let target_sums = input.tree.sums(input.targets.clone());
        let (coming, sums) = (Amounts::new(), input.tree.branches.map(|_, _| Amounts::new()));
        let mut free = Self { input, firm, owed, now, coming, promised, sums, target_sums };
        free.grant_what_is_charged();
        free.sums = input.tree.sums(free.firm.clone());
        let now = free.now.everywhere.less(&Amounts::new());
        let capacity = input.capacity.of(input.resources);
        free.coming = input.tree.left(&capacity, &input.settled(free.firm)).less(&now);
        free
    }

    /// Raises quotas to what their pods are charged within targets. That costs nothing as long as all that queues occupy has
    /// room: otherwise pods that are seen may be gone, and what they held be in use by others.
    fn grant_what_is_charged(&mut self) {
        let has_room = |one: &&Resource| self.now.everywhere.get(one) >= Amount::ZERO;
        for one in self.input.resources.iter().filter(has_room) {
            for leaf in self.input.each_leaf() {
                let charged = leaf.namespace_usage.charged.get(one).less(leaf.unrunnable.get(one));
                let granted = charged.min(self.input.targets[leaf.at].get(one));
                let firm = &mut self.firm[leaf.at];
                firm.set(one, firm.get(one).max(granted));
            }
        }
    }

    /// Unit by unit, as far as each is free as a whole. What is lacking then.
    fn raise_units(&mut self, short: &[BranchId]) -> BTreeMap<BranchId, Lacking> {
        let lacking = |at: &BranchId| (*at, Lacking::of(self.input, *at, &self.firm[*at]));
        let mut all: BTreeMap<BranchId, Lacking> = short.iter().map(lacking).collect();
        in_turns(self, short.iter().copied(), Self::turn, |free, at| {
            all.get_mut(&at).is_some_and(|lacking| free.grant_next(at, lacking))
        });
        all
    }

    /// Grants the first unit that fits. Whether one did.
    fn grant_next(&mut self, at: BranchId, lacking: &mut Lacking) -> bool {
        let Lacking { filled, backlog, .. } = lacking;
        let served = backlog.serve(
            |_| true,
            |requests| {
                let with = filled.plus(requests);
                // What pods of the queue are charged of other resources keeps no unit waiting that requests none of these.
                let more = with.less(&self.firm[at]).only(|one, _| requests.offers(one));
                (more.is_empty() || more.fits_in(&self.available(at))).then_some((with, more))
            },
        );
        let Some((with, more)) = served else { return false };
        *filled = with;
        self.grant(at, &more);
        true
    }

    /// What of what is free now the leaf at `at` may have: its own part, and what is not kept for others.
    pub(super) fn available(&self, at: BranchId) -> Amounts {
        let kept = self.promised.less(&self.owed[at]).less(&self.coming);
        self.now.within_limits(at, self.now.everywhere.less(&kept))
    }

    /// What is free now and kept for no queue.
    pub(super) fn unkept(&self) -> Amounts {
        self.now.everywhere.less(&self.promised.less(&self.coming))
    }

    pub(super) fn grant(&mut self, at: BranchId, more: &Amounts) {
        self.firm[at].add_all(more);
        let consumed = self.owed[at].min(more);
        self.owed[at].subtract_all(&consumed);
        self.promised.subtract_all(&consumed);
        self.now.take(at, more);
        self.input.tree.path_up(at).for_each(|(above, _)| self.sums[above].add_all(more));
    }

    /// What the queue at `at` lacks of what it is guaranteed and its target has.
    pub(super) fn unmet(&self, at: BranchId, resource: &Resource) -> Amount {
        let guaranteed = self.input.tree.branches[at].queue.guaranteed.get(resource).unwrap_or_default();
        guaranteed.min(self.target_sums[at].get(resource)).less(self.sums[at].get(resource))
    }

    /// How many of the queue at `at` and those above it lack a part of what they are guaranteed.
    pub(super) fn unmet_guarantees(&self, at: BranchId) -> usize {
        let is_unmet = |(at, branch): &(BranchId, &Branch<'_>)| {
            branch.queue.guaranteed.iter().any(|(one, _)| self.unmet(*at, one).is_positive())
        };
        self.input.tree.path_up(at).filter(is_unmet).count()
    }

    /// Which leaf is next: that below the most guarantees that are not met, so that inner ones come before those around them;
    /// then that with the least of its target.
    fn turn(&self, at: BranchId) -> (Reverse<usize>, Fraction) {
        let (firm, target) = (&self.firm[at], &self.input.targets[at]);
        let part = |one: &Resource| Fraction { part: firm.get(one).units(), whole: target.get(one).units() };
        let least = target.resources().map(part).min().unwrap_or(Fraction::NOTHING);
        (Reverse(self.unmet_guarantees(at)), least)
    }
}

/// What the target of one leaf holds beside its pods, and is not granted yet.
pub(super) struct Lacking {
    /// What its pods are charged, with the units that are granted.
    filled: Amounts,
    backlog: Backlog,
    /// What comes in no units.
    pub(super) divisible: Amounts,
}

impl Lacking {
    fn of(input: &GrantInput<'_>, at: BranchId, firm: &Amounts) -> Self {
        let (mut filled, pending) =
            input.leaf(at).map(|leaf| (leaf.charged(), leaf.pending.as_slice())).unwrap_or_default();
        let (mut divisible, mut granted) = (input.targets[at].less(&filled), firm.less(&filled));
        let mut left = Vec::new();
        for Fitting { pending, units, granted } in
            PendingUnits::fit_all(pending, &[], &mut divisible, &mut granted)
        {
            filled.add_all(&pending.requests.times(granted));
            let (requests, part) = (pending.requests.clone(), pending.part.clone());
            let unit = Unit { requests, count: units.saturating_sub(granted), runs: false, part };
            left.extend((unit.count > 0).then_some(unit));
        }
        Self { filled, backlog: Backlog::of(left), divisible }
    }
}
