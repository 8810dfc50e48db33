//! Pods that owners lack, in units that are of use.

use std::collections::BTreeMap;

use super::gang_part::{GangPart, IncompleteGangs};
use crate::amounts::{Amounts, Resource};
use crate::candidates::GangMinimums;
use crate::demand::{Demand, PendingPods, by_gang, members};
use crate::keyed::counts;
use crate::names::{GangName, OwnerUid};
use crate::nodes::Nodes;
use crate::snapshot::{NamespaceState, Owner, Pod};
use crate::total::total;

/// Alike units that lack room: single pods, or what a gang lacks to its minimum.
#[derive(Clone, Debug)]
pub(crate) struct PendingUnits<'a> {
    /// The owner; of a gang the first.
    pub(crate) owner: &'a Owner,
    /// The pods of one unit, by owner.
    pub(crate) pods: Vec<(&'a Owner, u32)>,
    /// What one unit requests, of the governed resources.
    pub(crate) requests: Amounts,
    /// How many units.
    pub(crate) units: u32,
    /// How many of these, the last, wait for the former sizes of owners.
    pub(crate) withheld_replicas: u32,
    /// The pods of such a unit that wait for them, by owner.
    pub(crate) restores: Vec<(&'a Owner, u32)>,
    /// What the unit is to a gang; none for pods that are in none.
    pub(crate) part: Option<GangPart>,
}

impl<'a> PendingUnits<'a> {
    /// Everything that the owners of `state` lack, as far as it counts and some node could run it.
    pub(super) fn all(
        state: &NamespaceState,
        minimums: &GangMinimums<'_>,
        demand: &Demand<'a>,
        nodes: &Nodes<'_>,
        resources: &[Resource],
    ) -> Vec<Self> {
        let mut pending_pods: Vec<&PendingPods<'a>> =
            demand.pending_pods.iter().filter(|pending| pending.counted > 0).collect();
        pending_pods.retain(|pending| nodes.could_run(&pending.owner.shape));
        pending_pods
            .sort_by_key(|PendingPods { owner, .. }| (owner.created, owner.kind, &owner.name, &owner.uid));
        let mut gangs = gangs(state, minimums, &pending_pods);
        let mut all = Vec::new();
        for pending in pending_pods {
            let owner = pending.owner;
            let single = |units: u32| Self {
                owner,
                pods: vec![(owner, 1)],
                requests: owner.shape.requests.of(resources),
                units,
                withheld_replicas: 0,
                restores: vec![(owner, 1)],
                part: owner.gang.as_ref().map(|gang| GangPart::Surplus(gang.name.clone())),
            };
            let gang = owner.gang.as_ref().and_then(|gang| gangs.get_mut(&gang.name));
            let taken =
                gang.as_ref().and_then(|gang| gang.taken.get(&owner.uid).copied()).unwrap_or_default();
            // The unit stands where the first owner of its gang does.
            if let Some(gang) = gang.filter(|gang| !gang.pods.is_empty()) {
                let (pods, restores) = (std::mem::take(&mut gang.pods), std::mem::take(&mut gang.restores));
                let requests = total(pods.iter().map(|(owner, count)| owner.shape.requests.times(*count)));
                let (requests, withheld_replicas) = (requests.of(resources), u32::from(!restores.is_empty()));
                let part = owner.gang.as_ref().map(|gang| GangPart::Minimum(gang.name.clone()));
                all.push(Self { pods, requests, withheld_replicas, restores, part, ..single(1) });
            }
            let units = pending.counted.saturating_sub(taken);
            all.push(Self { withheld_replicas: pending.withheld_replicas.min(units), ..single(units) });
        }
        all.retain(|pending| pending.units > 0 && !pending.requests.is_empty());
        all
    }

    /// The gang whose minimum the unit completes.
    pub(crate) fn completes(&self) -> Option<&GangName> {
        self.part.as_ref()?.minimum_of()
    }

    /// The gang that its pods come on top of the minimum of.
    pub(crate) fn surplus_of(&self) -> Option<&GangName> {
        self.part.as_ref()?.surplus_of()
    }

    /// How many pods one unit is.
    pub(crate) fn pods_of_one(&self) -> u32 {
        self.pods.iter().map(|(_, pods)| *pods).fold(0, u32::saturating_add)
    }

    /// How many of its units fit in `room`.
    pub(crate) fn fitting(&self, room: &Amounts) -> u32 {
        u32::try_from(self.requests.times_in(room, self.units.into())).unwrap_or(u32::MAX)
    }

    /// The units of `all` that fit in `room`, in the order in which controllers create them, and those that fit in `granted`.
    /// Both are left with the rest. Units of which `besides` counts some are counted already.
    ///
    /// Where the minimum of a gang does not fit, none of its pods does.
    pub(crate) fn fit_all<'l>(
        all: &'l [Self],
        besides: &[u32],
        room: &mut Amounts,
        granted: &mut Amounts,
    ) -> Vec<Fitting<'l, 'a>> {
        let besides = besides.iter().copied().chain(std::iter::repeat(0));
        let (mut incomplete, mut not_granted) = (IncompleteGangs::default(), IncompleteGangs::default());
        let fitting = all.iter().zip(besides).map(|(pending, besides)| {
            let asked = pending.units.saturating_sub(besides);
            let units = incomplete.given(pending.part.as_ref(), asked, pending.fitting(room).min(asked));
            room.subtract_all(&pending.requests.times(units));
            let has_room =
                not_granted.given(pending.part.as_ref(), units, pending.fitting(granted).min(units));
            granted.subtract_all(&pending.requests.times(has_room));
            Fitting { pending, units, granted: has_room }
        });
        fitting.collect()
    }
}

/// How many of a leaf's alike units have room.
pub(crate) struct Fitting<'l, 'a> {
    pub(crate) pending: &'l PendingUnits<'a>,
    /// How many fit in its target.
    pub(crate) units: u32,
    /// How many of these fit in what is granted.
    pub(crate) granted: u32,
}

/// What one gang lacks to its minimum.
#[derive(Default)]
struct MissingMembers<'a> {
    pods: Vec<(&'a Owner, u32)>,
    /// How many of these wait for the former size of which owner.
    restores: Vec<(&'a Owner, u32)>,
    /// How many of these are of which owner.
    taken: BTreeMap<&'a OwnerUid, u32>,
}

/// What every gang of `pending_pods` lacks to its minimum.
fn gangs<'a>(
    state: &NamespaceState,
    minimums: &GangMinimums<'_>,
    pending_pods: &[&PendingPods<'a>],
) -> BTreeMap<&'a GangName, MissingMembers<'a>> {
    let by_gang = by_gang(pending_pods.iter().copied());
    if by_gang.is_empty() {
        return BTreeMap::new();
    }
    let members = members(state);
    let live = state.pods.iter().filter(|pod| pod.is_live() && pod.gang().is_some());
    let of_owner = counts(live.filter_map(Pod::owner));
    let lacking = |(name, pending_pods): (&'a GangName, Vec<&PendingPods<'a>>)| {
        let job = minimums.queue_jobs.get(name);
        let minimum = minimums.of_gang(pending_pods.iter().filter_map(|pending| pending.owner.gang.as_ref()));
        // Where all of its minimum has succeeded, one pod of it runs, so that it comes to its end.
        let mut lacks = minimum.max(1).saturating_sub(members.get(name).copied().unwrap_or_default());
        let mut lacking = MissingMembers::default();
        // First what each task needs, then whatever completes the gang.
        for of_tasks in [true, false] {
            for pending in &pending_pods {
                let owner = pending.owner;
                let task = job.and_then(|job| job.tasks.iter().find(|task| task.owner == owner.uid));
                let there = of_owner.get(&owner.uid).copied().unwrap_or_default();
                let floor = task.map(|task| task.floor().saturating_sub(there)).unwrap_or_default();
                let taken = lacking.taken.entry(&owner.uid).or_default();
                let left = pending.counted.saturating_sub(*taken);
                let more = left.min(if of_tasks { floor } else { lacks });
                *taken = taken.saturating_add(more);
                lacks = lacks.saturating_sub(more);
            }
        }
        for pending in &pending_pods {
            let taken = lacking.taken.get(&pending.owner.uid).copied().unwrap_or_default();
            if taken > 0 {
                lacking.pods.push((pending.owner, taken));
                let restored =
                    taken.saturating_sub(pending.counted.saturating_sub(pending.withheld_replicas));
                lacking.restores.extend((restored > 0).then_some((pending.owner, restored)));
            }
        }
        (name, lacking)
    };
    by_gang.into_iter().map(lacking).collect()
}
