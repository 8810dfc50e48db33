//! One leaf, after grants are made.

use rustc_hash::FxHashMap;

use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Headcount;
use crate::demand::{Ask, Trust};
use crate::leaf::{Leaf, Wanted};
use crate::names::{OwnerUid, QueueName};
use crate::snapshot::{EvictionRules, NamespaceState, Pod, Queue};

/// One leaf, after grants are made.
#[derive(Clone, Copy)]
pub(crate) struct Party<'a> {
    pub(crate) name: &'a QueueName,
    pub(crate) queue: &'a Queue,
    pub(crate) state: &'a NamespaceState,
    pub(crate) headcount: &'a Headcount,
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
    /// The owners of it that want more pods than there are, most important first.
    pub(crate) asks: &'a [Ask<'a>],
    /// Which of its pods do not count, and how many of those that its owners lack do.
    pub(crate) trust: &'a Trust,
    /// What may be taken from it, inherited rules included.
    pub(crate) eviction: EvictionRules,
    /// Whether its pods are never evicted, by policy.
    pub(crate) spared: bool,
}

/// What of a leaf's target is neither held by pods nor granted nor owed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Need<'a> {
    /// Units, each with how many of it; in the order in which the leaf's owners create them.
    pub(crate) units: Vec<(&'a Wanted<'a>, u32)>,
    /// The pods that have room in the quota and do not exist yet.
    pub(crate) coming: Vec<(&'a Wanted<'a>, u32)>,
    /// The pods that all that they lack is owed to.
    pub(crate) owed: Vec<(&'a Wanted<'a>, u32)>,
    /// What is granted already of units that are not covered by it wholly, and what is owed of them.
    pub(crate) begun: Amounts,
    pub(crate) begun_owed: Amounts,
    /// What is claimed without pods.
    pub(crate) claimed: Amounts,
    /// Everything, what is owed included.
    pub(crate) lacking: Amounts,
}

impl Need<'_> {
    /// Leaves only as much as fits in `promised`.
    pub(crate) fn limit(&mut self, promised: &Amounts) {
        let mut left = promised.plus(&self.begun).plus(&self.begun_owed);
        for (wanted, units) in &mut self.units {
            *units = wanted.fitting(&left).min(*units);
            left.subtract_all(&wanted.requests.times(*units));
        }
        self.units.retain(|(_, units)| *units > 0);
        self.claimed = self.claimed.min(&left);
    }
}

impl<'a> Party<'a> {
    /// What its pods will hold once all that leave are gone.
    pub(crate) fn staying(&self) -> &'a Amounts {
        &self.leaf.staying
    }

    /// What it occupies by its target once every lowered quota is in force and everything on its way out is gone.
    pub(crate) fn settled(&self) -> Amounts {
        self.firm.max(self.staying())
    }

    /// What its pods hold above its target and are not about to give back.
    pub(crate) fn overuse(&self) -> Amounts {
        self.staying().less(&self.target.max(self.firm))
    }

    /// What of its target it lacks. A part of a unit is of no use, so nothing is needed for it.
    ///
    /// `staying` is what its pods hold once all are gone that leave or are chosen, `owed` what is free or being freed for it.
    pub(crate) fn need(&self, staying: &Amounts, owed: &Amounts) -> Need<'a> {
        let mut need = Need::default();
        let mut room = self.target.less(staying);
        if room.is_empty() {
            return need;
        }
        let mut granted = self.firm.less(staying);
        let mut owed = owed.clone();
        for wanted in &self.leaf.wanted {
            let fits = wanted.fitting(&room);
            room.subtract_all(&wanted.requests.times(fits));
            let has_room = wanted.fitting(&granted).min(fits);
            granted.subtract_all(&wanted.requests.times(has_room));
            need.coming.push((wanted, has_room));
            let lacks = fits.saturating_sub(has_room);
            // Part of what it takes may be granted already, and part of it owed.
            need.lacking.add_all(&wanted.requests.times(lacks));
            let is_owed = wanted.fitting(&granted.plus(&owed)).min(lacks);
            let taken = wanted.requests.times(is_owed);
            let of_granted = granted.min(&taken);
            granted.subtract_all(&of_granted);
            owed = owed.less(&taken.less(&of_granted));
            need.owed.push((wanted, is_owed));
            need.units.push((wanted, lacks.saturating_sub(is_owed)));
        }
        let claimed = room.min(&self.claim().less(&self.target.less(&room)));
        need.units.retain(|(_, units)| *units > 0);
        // What is begun is for units first.
        let mut waiting = Amounts::new();
        need.units.iter().for_each(|(wanted, units)| waiting.add_all(&wanted.requests.times(*units)));
        let claimed = claimed.less(&granted.less(&waiting));
        need.lacking.add_all(&claimed);
        need.claimed = claimed.less(&owed.less(&waiting.less(&granted)));
        need.begun = granted.min(&waiting);
        need.begun_owed = owed.min(&waiting.less(&granted));
        need.coming.retain(|(_, units)| *units > 0);
        need
    }

    /// What of its target it claims by its spec, used or not.
    fn claim(&self) -> Amounts {
        let request = self.queue.request.iter().map(|(one, amount)| (one.clone(), amount));
        request.collect::<Amounts>().min(self.target)
    }

    /// What of that its pods do not use.
    pub(crate) fn unused_claim(&self, staying: &Amounts) -> Amounts {
        self.claim().less(&staying.plus(&self.leaf.unrunnable))
    }

    /// What its pods hold above its limit and are not about to give back.
    pub(crate) fn above_limit(&self, resource: &Resource) -> Amount {
        let above = self.queue.limit.get(resource).map(|limit| self.staying().get(resource).less(limit));
        let above = above.unwrap_or_default();
        let gives_back = above.is_positive() && !self.state.queue_jobs.is_empty();
        if gives_back { above.less(self.withdrawn(resource)) } else { above }
    }

    /// What those of its QueueJobs' pods request that are more than their Jobs may run: the Job controller removes them. It
    /// counts where a queue is above its limit, as admission lets in too much for a moment now and then, and a slot given
    /// back is all that is needed.
    fn withdrawn(&self, resource: &Resource) -> Amount {
        let mut pods: FxHashMap<&OwnerUid, u32> = FxHashMap::default();
        for owner in self.state.pods.iter().filter(|pod| pod.is_live()).filter_map(Pod::owner) {
            let count = pods.entry(owner).or_default();
            *count = count.saturating_add(1);
        }
        let mut withdrawn = Amount::ZERO;
        for task in self.state.queue_jobs.iter().flat_map(|job| &job.tasks) {
            let pods = pods.get(&task.owner).copied().unwrap_or_default();
            withdrawn += task.shape.requests.times(pods.saturating_sub(task.parallelism)).get(resource);
        }
        withdrawn
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
        let Some(quota) = &self.state.quota else { return false };
        let mut is_over = false;
        resources.into_iter().all(|resource| {
            let allocated = allocated.get(resource);
            is_over |= quota.charged.get(resource).is_none_or(|charged| charged > allocated);
            quota.is_fenced_at(resource, allocated)
        }) && is_over
    }
}
