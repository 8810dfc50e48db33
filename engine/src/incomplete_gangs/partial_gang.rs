//! A gang of which some members exist, and not as many as it needs.

use std::collections::BTreeMap;

use crate::amounts::{Amounts, Resource};
use crate::demand::{PendingPods, by_gang};
use crate::leaf::Leaf;
use crate::names::GangName;
use crate::plan::{GangPart, Preemptor};
use crate::snapshot::{Owner, OwnerKind, Pod, ScaleTargetKind};
use crate::total::total;

/// A gang of which some members exist, and not as many as it needs.
pub(super) struct PartialGang<'a> {
    /// The first of the workloads that lack members.
    pub(super) owner: &'a Owner,
    /// All of them.
    pub(super) owners: Vec<&'a Owner>,
    pub(super) members: Vec<&'a Pod>,
    /// Whether it is of one Job whose size may be lowered, and all of its members are pods of that Job.
    pub(super) can_be_held: bool,
    minimum: u32,
    /// What its members use, of the governed resources.
    pub(super) uses: Amounts,
    /// What it lacks to its minimum.
    pub(super) lacks: Amounts,
}

impl<'a> PartialGang<'a> {
    /// Those of a leaf, the first to be completed first: by priority, then age. None if there are less than two.
    pub(super) fn all(leaf: &Leaf<'a>, resources: &[Resource]) -> Vec<Self> {
        // A QueueJob gets its slots as a whole.
        let pending_by_gang = by_gang(
            leaf.demand.pending_pods.iter().filter(|pending| pending.owner.kind != OwnerKind::QueueJob),
        );
        // One alone waits for no other.
        if pending_by_gang.len() < 2 {
            return Vec::new();
        }
        let mut members: BTreeMap<&GangName, Vec<&'a Pod>> = BTreeMap::new();
        for pod in leaf.state.pods.iter().filter(|pod| pod.is_live()) {
            let Some(gang) = pod.gang().filter(|gang| pending_by_gang.contains_key(&gang.name)) else {
                continue;
            };
            members.entry(&gang.name).or_default().push(pod);
        }
        let partial = |(name, pending_pods): (&GangName, Vec<&PendingPods<'a>>)| {
            let minimum =
                leaf.minimums.of_gang(pending_pods.iter().filter_map(|pending| pending.owner.gang.as_ref()));
            Self::of(&pending_pods, minimum, members.remove(name)?, resources)
        };
        let mut gangs: Vec<Self> = pending_by_gang.into_iter().filter_map(partial).collect();
        gangs.sort_by(|a, b| Owner::by_importance(a.owner, b.owner));
        gangs
    }

    /// The gang of these pending pods, which are in order, and members, of which so many have to run. None if it is complete, if
    /// its workloads lack too few pods to complete it, or if one of them is lowered or set aside.
    fn of(
        pending_pods: &[&PendingPods<'a>],
        minimum: u32,
        members: Vec<&'a Pod>,
        resources: &[Resource],
    ) -> Option<Self> {
        let mut left = minimum.saturating_sub(u32::try_from(members.len()).unwrap_or(u32::MAX));
        let is_put_off =
            |pending: &&&PendingPods<'_>| pending.withheld_replicas > 0 || pending.set_aside.is_some();
        if left == 0 || pending_pods.iter().any(|pending| is_put_off(&pending)) {
            return None;
        }
        let mut lacks = Amounts::new();
        for pending in pending_pods {
            let pods = pending.pods.min(left);
            lacks.add_all(&pending.owner.shape.requests.times(pods));
            left = left.saturating_sub(pods);
        }
        if left > 0 {
            return None;
        }
        let owners: Vec<&Owner> = pending_pods.iter().map(|pending| pending.owner).collect();
        let uses = total(members.iter().map(|pod| pod.requests())).of(resources);
        let lacks = lacks.of(resources);
        let owner = *owners.first()?;
        let can_be_held = owners.len() == 1 && is_one_job(owner, &members);
        Some(Self { owner, owners, members, can_be_held, minimum, uses, lacks })
    }

    /// The part of it that exists.
    pub(super) fn part(&self) -> GangPart {
        GangPart {
            workload: Preemptor::of(self.owner),
            members: u32::try_from(self.members.len()).unwrap_or(u32::MAX),
            minimum: self.minimum,
        }
    }
}

/// Whether the size of `owner` is a Job's that may be lowered, and all of `members` are its pods.
fn is_one_job(owner: &Owner, members: &[&Pod]) -> bool {
    let size = &owner.size;
    let kind = size.scale_target.as_ref().map(|scale_target| scale_target.kind);
    kind == Some(ScaleTargetKind::Job)
        && size.left_alone.is_none()
        && size.written > 0
        && members.iter().all(|pod| pod.owner() == Some(&owner.uid))
}
