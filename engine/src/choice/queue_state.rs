//! One leaf, after grants are made.

use crate::amounts::{Amounts, Resource};
use crate::leaf::{Fitting, Leaf, Wanted};

/// One leaf, after grants are made.
#[derive(Clone, Copy)]
pub(crate) struct QueueState<'a> {
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
    /// Units, in the order in which the leaf's owners create them.
    pub(crate) units: Vec<Units<'a>>,
    /// What is granted beside the units and the claim; it is kept for pods that no owner shows.
    pub(crate) kept: Amounts,
    /// What is granted of units that lack the rest, owed or not.
    pub(crate) begun: Amounts,
    /// What is owed and completes neither a unit nor a claim.
    pub(crate) part_owed: Amounts,
    /// What is claimed without pods: what is granted of it, what is owed, and the rest.
    pub(crate) claim_granted: Amounts,
    pub(crate) claim_owed: Amounts,
    pub(crate) claim_lacking: Amounts,
    /// Everything that is not granted, what is owed included.
    pub(crate) lacking: Amounts,
}

impl Need<'_> {
    /// Everything that is asked for.
    pub(crate) fn all(&self) -> Amounts {
        let mut all = self.claim_granted.plus(&self.claim_owed).plus(&self.claim_lacking);
        for units in &self.units {
            let count = units.granted.saturating_add(units.owed).saturating_add(units.lacking);
            all.add_all(&units.wanted.requests.times(count));
        }
        all
    }
}

/// Alike units of one leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units<'a> {
    /// Their place among what the leaf wants.
    pub(crate) place: usize,
    pub(crate) wanted: &'a Wanted<'a>,
    /// How many have room in the quota.
    pub(crate) granted: u32,
    /// How many are owed all that they lack.
    pub(crate) owed: u32,
    /// How many lack more.
    pub(crate) lacking: u32,
}

/// What was asked for before in the same decision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// How many units, in the order of what the leaf wants.
    pub(crate) units: Vec<u32>,
    pub(crate) claimed: Amounts,
    /// What of that is granted: it is promised beside what is kept.
    pub(crate) granted: Amounts,
    /// What is granted of units that were asked for because they lack the rest: it is still kept.
    pub(crate) begun: Amounts,
}

impl Asked {
    /// Counts `units` more of those at `place`.
    pub(crate) fn count(&mut self, place: usize, units: u32) {
        if self.units.len() <= place {
            self.units.resize(place.saturating_add(1), 0);
        }
        if let Some(entry) = self.units.get_mut(place) {
            *entry = entry.saturating_add(units);
        }
    }
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

    /// What of its target its pods do not hold. A part of a unit is of no use, so nothing is needed for it.
    ///
    /// `staying` is what its pods hold once all are gone that leave or are chosen.
    pub(crate) fn need(&self, staying: &Amounts, asked: &Asked) -> Need<'a> {
        let mut before = asked.claimed.clone();
        for (wanted, count) in self.leaf.wanted.iter().zip(&asked.units) {
            before.add_all(&wanted.requests.times(*count));
        }
        let granted_before = asked.granted.plus(&asked.begun);
        // Admission charges pods that no node could run: a unit that finds no room in the quota beside them is never created.
        let charged = staying.plus(&self.leaf.unrunnable);
        let mut left = TargetRoom {
            room: self.target.less(&charged).less(&before),
            granted: self.firm.less(&charged).less(&granted_before),
            owed: self.owed.less(&before.less(&granted_before)),
        };
        let mut need = Need { kept: self.firm.less(&asked.granted), ..Need::default() };
        if left.room.is_empty() {
            return need;
        }
        let fitting = Wanted::fit_all(&self.leaf.wanted, &asked.units, &mut left.room, &mut left.granted);
        for (place, Fitting { wanted, units, granted }) in fitting.into_iter().enumerate() {
            need.kept.subtract_all(&wanted.requests.times(granted));
            need.units.push(Units {
                place,
                wanted,
                granted,
                owed: 0,
                lacking: units.saturating_sub(granted),
            });
        }
        let (begun, mut waiting, mut all_owed) = (left.granted.clone(), Amounts::new(), Amounts::new());
        for units in &mut need.units {
            let wanted = units.wanted;
            need.lacking.add_all(&wanted.requests.times(units.lacking));
            units.owed = wanted.fitting(&left.granted.plus(&left.owed)).min(units.lacking);
            units.lacking = units.lacking.saturating_sub(units.owed);
            left.take(&wanted.requests.times(units.owed));
            all_owed.add_all(&wanted.requests.times(units.owed));
            waiting.add_all(&wanted.requests.times(units.lacking));
        }
        need.units.retain(|units| units.granted > 0 || units.owed > 0 || units.lacking > 0);
        let owed_beside_units = left.owed.clone();
        // What is begun is for units first.
        let begun_of_waiting = left.granted.min(&waiting);
        left.granted.subtract_all(&begun_of_waiting);
        left.owed = left.owed.less(&waiting.less(&begun_of_waiting));
        need.begun = begun.min(&all_owed.plus(&waiting));
        let claimed = left.room.min(&self.claim().less(&self.target.less(&left.room)));
        need.claim_granted = claimed.min(&left.granted);
        need.kept.subtract_all(&need.claim_granted);
        let claimed = claimed.less(&need.claim_granted);
        need.lacking.add_all(&claimed);
        need.claim_owed = claimed.min(&left.owed);
        need.part_owed = owed_beside_units.less(&need.claim_owed);
        need.claim_lacking = claimed.less(&need.claim_owed);
        need
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
    pub(crate) fn is_fenced<'r>(
        &self,
        allocated: &Amounts,
        resources: impl IntoIterator<Item = &'r Resource>,
    ) -> bool {
        let Some(quota) = &self.leaf.state.quota else { return false };
        let mut is_over = false;
        resources.into_iter().all(|resource| {
            let allocated = allocated.get(resource);
            is_over |= quota.charged.get(resource).is_none_or(|charged| charged > allocated);
            quota.is_fenced_at(resource, allocated)
        }) && is_over
    }
}

/// What is left of a leaf's target, of what is granted and of what is owed, while units are counted.
struct TargetRoom {
    room: Amounts,
    granted: Amounts,
    owed: Amounts,
}

impl TargetRoom {
    /// Takes `amounts` out of what is granted first, then of what is owed.
    fn take(&mut self, amounts: &Amounts) {
        let granted = self.granted.min(amounts);
        self.granted.subtract_all(&granted);
        self.owed = self.owed.less(&amounts.less(&granted));
    }
}
