//! One leaf, after grants are made.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::amounts::{Amounts, Resource};
use crate::cluster::Cluster;
use crate::leaf::{Fitting, IncompleteGangs, Leaf, PendingUnits};
use crate::names::GangName;

/// One leaf, after grants are made.
#[derive(Clone, Copy)]
pub(crate) struct QueueState<'a> {
    pub(crate) cluster: Cluster<'a>,
    pub(crate) leaf: &'a Leaf<'a>,
    pub(crate) target: &'a Amounts,
    /// What it deserves, for guarantees: they reach as far.
    pub(crate) deserved: &'a Amounts,
    /// What its quota allows next.
    pub(crate) allocated: &'a Amounts,
    /// The part of that within its target.
    pub(crate) firm: &'a Amounts,
    /// What was freed for it, or is being freed, and is not granted yet.
    pub(crate) owed: &'a Amounts,
}

/// What of a leaf's target its pods do not hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Need<'a> {
    /// Units, the most important first.
    pub(crate) units: Vec<Units<'a>>,
    /// What is claimed without pods: what is granted or owed of it, the owed part of that, and the rest.
    pub(crate) claim_promised: Amounts,
    pub(crate) claim_owed: Amounts,
    pub(crate) claim_lacking: Amounts,
    /// What is granted of units that lack the rest, and not owed.
    pub(crate) begun: Amounts,
    /// What is owed and completes neither a unit nor a claim.
    pub(crate) part_owed: Amounts,
    /// Everything that is not granted, what is owed included.
    pub(crate) lacking: Amounts,
}

impl Need<'_> {
    /// Whether it needs nothing, and nothing is promised to it either.
    pub(crate) fn is_nothing(&self) -> bool {
        self.units.is_empty() && self.claim_promised.is_empty() && self.claim_lacking.is_empty()
    }

    /// Everything that is asked for.
    pub(crate) fn all(&self) -> Amounts {
        let mut all = self.claim_promised.plus(&self.claim_lacking);
        for units in &self.units {
            let count = units.granted.saturating_add(units.owed).saturating_add(units.lacking);
            all.add_all(&units.pending.requests.times(count));
        }
        all
    }
}

/// Alike units of one leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units<'a> {
    /// Their place among what the leaf wants.
    pub(crate) place: usize,
    pub(crate) pending: &'a PendingUnits<'a>,
    /// How many have room in the quota.
    pub(crate) granted: u32,
    /// How many are owed all that they lack.
    pub(crate) owed: u32,
    /// How many lack more.
    pub(crate) lacking: u32,
}

impl<'a> QueueState<'a> {
    /// What it occupies by its target once every lowered quota is in force and everything on its way out is gone.
    pub(crate) fn settled(&self) -> Amounts {
        self.firm.max(&self.leaf.staying)
    }

    /// What its pods hold above its target and are not about to give back.
    pub(crate) fn overuse(&self) -> Amounts {
        self.leaf.staying.less(&self.target.max(self.firm))
    }

    /// What of its target its pods do not hold, beside what is `promised`, of which `asked` are units in the order of what the
    /// leaf wants. A part of a unit is of no use, so nothing is needed for it.
    ///
    /// `staying` is what its pods hold once all are gone that leave or are chosen.
    pub(crate) fn need(&self, staying: &Amounts, promised: &Amounts, asked: &[u32]) -> Need<'a> {
        self.need_where_owed(self.owed, staying, promised, asked)
    }

    /// The same where this is owed to it.
    fn need_where_owed(
        &self,
        owed: &Amounts,
        staying: &Amounts,
        promised: &Amounts,
        asked: &[u32],
    ) -> Need<'a> {
        // Admission charges pods that no node could run: a unit that finds no room in the quota beside them is never created.
        let charged = staying.plus(&self.leaf.unrunnable);
        let mut room = self.target.less(&charged).less(promised);
        let (mut need, mut waiting) = (Need::default(), Amounts::new());
        if room.is_empty() {
            return need;
        }
        let all_granted = self.firm.less(&charged);
        let mut granted = all_granted.less(promised);
        let mut owed = owed.less(&promised.less(&all_granted));
        // What fits is decided first, in the order in which controllers create pods; what is granted goes to any that fit.
        let fitting = PendingUnits::fit_all(&self.leaf.pending, asked, &mut room, &mut granted);
        let mut incomplete = IncompleteGangs::default();
        // What is owed goes to the units that room is made for first. Otherwise the units that it completes were others in each
        // plan, and what is promised never came to rest.
        for (place, Fitting { pending, units, granted: has_room }) in self.most_important_first(fitting) {
            let lacking = units.saturating_sub(has_room);
            let comes = pending.fitting(&granted.plus(&owed)).min(lacking);
            let comes = incomplete.given(pending.part.as_ref(), lacking, comes);
            let (requests, waits) = (pending.requests.times(comes), lacking.saturating_sub(comes));
            let rest = requests.less(&granted);
            granted = granted.less(&requests);
            owed = owed.less(&rest);
            waiting.add_all(&pending.requests.times(waits));
            need.lacking.add_all(&pending.requests.times(lacking));
            need.units.push(Units { place, pending, granted: has_room, owed: comes, lacking: waits });
        }
        // What is begun is for units first.
        need.begun = granted.min(&waiting);
        granted.subtract_all(&need.begun);
        let claimed = room.min(&self.claim().less(&self.target.less(&room)));
        let not_granted = claimed.less(&granted);
        need.claim_owed = not_granted.min(&owed.less(&waiting.less(&need.begun)));
        need.part_owed = owed.less(&need.claim_owed);
        need.claim_lacking = not_granted.less(&need.claim_owed);
        need.claim_promised = claimed.less(&need.claim_lacking);
        need.lacking.add_all(&not_granted);
        need
    }

    /// Those of `fitting` that are any, each with its place: by priority and size, largest first. What a gang has on top of its
    /// minimum comes after that.
    fn most_important_first<'l>(&self, fitting: Vec<Fitting<'l, 'a>>) -> Vec<(usize, Fitting<'l, 'a>)> {
        let mut all: Vec<_> = fitting.into_iter().enumerate().filter(|(_, one)| one.units > 0).collect();
        let key = |pending: &PendingUnits<'a>| {
            (pending.owner.priority, self.cluster.dominant(&pending.requests, 1))
        };
        let of_minimum =
            |(_, one): &(usize, Fitting<'l, 'a>)| Some((one.pending.completes()?, key(one.pending)));
        let minimums: BTreeMap<&GangName, _> = all.iter().filter_map(of_minimum).collect();
        all.sort_by_cached_key(|(_, one)| {
            let minimum = one.pending.surplus_of().and_then(|gang| minimums.get(gang));
            let own = key(one.pending);
            (Reverse(minimum.map_or(own, |minimum| own.min(*minimum))), minimum.is_some())
        });
        all
    }

    /// What of `owed` completes a unit or a claim of it.
    pub(crate) fn of_use(&self, owed: &Amounts) -> Amounts {
        owed.less(&self.need_where_owed(owed, &self.leaf.staying, &Amounts::new(), &[]).part_owed)
    }

    /// What of its target it claims by its spec, used or not.
    fn claim(&self) -> Amounts {
        self.leaf.queue.request.amounts().min(self.target)
    }

    /// Whether admission lets in no more of `resources` than is `allocated`, and knows of more: only then is an eviction
    /// final, and needed.
    ///
    /// What admission has charged is known here only where the quota is newer than every pod that is seen. If that is no
    /// more than is allocated, the pods that are seen are gone.
    ///
    /// In Gate mode the ledger is the quota. It is written before the evictions of the same plan, and no gate is removed above
    /// it.
    pub(crate) fn is_fenced<'r>(
        &self,
        allocated: &Amounts,
        resources: impl IntoIterator<Item = &'r Resource>,
    ) -> bool {
        let Some(quota) = &self.leaf.state.quota else { return false };
        if self.leaf.state.is_in_gate_mode() {
            return true;
        }
        let mut is_over = false;
        resources.into_iter().all(|resource| {
            let allocated = allocated.get(resource);
            is_over |= quota.charged.get(resource).is_none_or(|charged| charged > allocated);
            quota.is_fenced_at(resource, allocated)
        }) && is_over
    }
}
