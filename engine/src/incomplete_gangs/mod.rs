//! Gangs that exist in part in Quota mode, each in the room that another one lacks.
//!
//! A quota lets in pod after pod, so two gangs that are created at the same time may each get a part of their minimums. Then
//! neither is of use, and neither ends. In Gate mode gangs are let in whole, so this cannot happen there.
//!
//! The gang of the highest priority, then the oldest, is completed. The others yield, the last of them first, as few as are
//! needed: the parallelism of their Jobs is lowered to 0 and restored when there is room for the whole minimum.
//!
//! *Why not an eviction*: the Job would create the pod again, in the room that the other gang needs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Plan, PodId, Preemptor, QueuePlan, Scaling};
use crate::amounts::{Amounts, Resource};
use crate::demand::{Ask, earliest};
use crate::leaf::Leaf;
use crate::names::{GangName, QueueName};
use crate::reason::Reason;
use crate::snapshot::{Admission, Owner, OwnerKind, Pod, SetterKind};
use crate::time::Timestamp;
use crate::tree::Tree;

/// For how long no member may have been created before a gang yields: pods are created one after the other, and a controller
/// that was refused may try again.
const INCOMPLETE_SECONDS: i64 = 60;

/// A gang that lacks members and another one that uses the room for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteGang {
    /// The workload of the gang, the first if there are several.
    pub who: Preemptor,
    /// How many members exist, and the smallest useful number.
    pub members: (u32, u32),
    /// The same of the other gang.
    pub other: (Preemptor, (u32, u32)),
    /// The workload that yields, and when; none if none can be held.
    pub yields: Option<(Preemptor, Timestamp)>,
}

/// Tells of every leaf which gangs are incomplete because of each other, and lowers the size of those that yield.
pub(super) fn resolve(tree: &Tree<'_>, leaves: &[Option<Leaf<'_>>], now: Timestamp, plan: &mut Plan) {
    for (branch, leaf) in tree.branches.iter().zip(leaves) {
        let Some(leaf) = leaf.as_ref().filter(|leaf| leaf.queue.admission == Admission::Quota) else { continue };
        let resources = &plan.resources;
        let Some(queue) = plan.queues.get_mut(&branch.name) else { continue };
        let may_hold = queue.reach.evicts() && !leaf.never_evicted && plan.held.is_none();
        let Some(standoff) = Standoff::of(leaf, queue, may_hold, resources) else { continue };
        let due = standoff.newest().plus_seconds(INCOMPLETE_SECONDS);
        standoff.tell(due, queue);
        if standoff.yielding.is_empty() {
            continue;
        }
        if now < due {
            plan.next_change = earliest(plan.next_change, Some(due));
        } else {
            plan.scalings.extend(standoff.scalings(&branch.name));
        }
    }
}

/// A gang of which some members exist, and not its minimum.
struct PartialGang<'a> {
    /// The workloads that lack members, in the order of asks.
    owners: Vec<&'a Owner>,
    members: Vec<&'a Pod>,
    minimum: u32,
    /// What its members use, and what it lacks to its minimum.
    uses: Amounts,
    lacks: Amounts,
}

/// Several of them in the room of one.
struct Standoff<'a> {
    /// The gang to complete.
    completed: PartialGang<'a>,
    /// The others, the most important first.
    others: Vec<PartialGang<'a>>,
    /// The places of the others that yield; none if none can be held.
    yielding: Vec<usize>,
}

impl<'a> PartialGang<'a> {
    /// Those of a leaf, the first to be completed first.
    fn all(leaf: &Leaf<'a>, resources: &[Resource]) -> Vec<Self> {
        let mut asks: BTreeMap<&'a GangName, Vec<&Ask<'a>>> = BTreeMap::new();
        for ask in leaf.demand.asks.iter().filter(|ask| ask.owner.kind != OwnerKind::QueueJob) {
            if let Some(gang) = &ask.owner.gang {
                asks.entry(&gang.name).or_default().push(ask);
            }
        }
        // One alone waits for nothing that it could be given.
        if asks.len() < 2 {
            return Vec::new();
        }
        let mut members: BTreeMap<&GangName, Vec<&'a Pod>> = BTreeMap::new();
        for pod in leaf.state.pods.iter().filter(|pod| pod.is_live()) {
            let gang = pod.gang().filter(|gang| asks.contains_key(&gang.name));
            gang.into_iter().for_each(|gang| members.entry(&gang.name).or_default().push(pod));
        }
        let partial = |(name, asks): (&GangName, Vec<&Ask<'a>>)| Self::of(&asks, members.remove(name)?, resources);
        let mut gangs: Vec<Self> = asks.into_iter().filter_map(partial).collect();
        gangs.sort_by(|a, b| a.order().cmp(&b.order()));
        gangs
    }

    /// The gang of these asks and members; none if it is complete, is held already, or lacks more than its workloads want.
    fn of(asks: &[&Ask<'a>], members: Vec<&'a Pod>, resources: &[Resource]) -> Option<Self> {
        let minimum = asks.iter().filter_map(|ask| Some(ask.owner.gang.as_ref()?.min_available)).max()?;
        let mut left = minimum.saturating_sub(u32::try_from(members.len()).unwrap_or(u32::MAX));
        if left == 0 || asks.iter().any(|ask| ask.held_back > 0) {
            return None;
        }
        let mut lacks = Amounts::new();
        for ask in asks {
            let pods = ask.pods.min(left);
            lacks.add_all(&ask.owner.shape.requests.times(pods));
            left = left.saturating_sub(pods);
        }
        let mut uses = Amounts::new();
        members.iter().for_each(|pod| uses.add_all(pod.requests()));
        let owners = asks.iter().map(|ask| ask.owner).collect();
        let (uses, lacks) = (uses.of(resources), lacks.of(resources));
        (left == 0).then_some(Self { owners, members, minimum, uses, lacks })
    }

    /// By priority, then age.
    fn order(&self) -> impl Ord + use<'a> {
        let first = self.owners.first().copied();
        first.map(|owner| (Reverse(owner.priority), owner.created, &owner.name, &owner.uid))
    }

    fn who(&self) -> Option<Preemptor> {
        self.owners.first().map(|owner| Preemptor::of(owner))
    }

    fn counts(&self) -> (u32, u32) {
        (u32::try_from(self.members.len()).unwrap_or(u32::MAX), self.minimum)
    }

    /// Whether all of its workloads are Jobs whose size may be lowered, and all of its members are theirs.
    fn can_be_held(&self) -> bool {
        let is_held_by = |owner: &&Owner| {
            let is_job = owner.size.setter.as_ref().is_some_and(|setter| setter.kind == SetterKind::Job);
            is_job && owner.size.left_alone.is_none() && owner.size.written > 0
        };
        let is_theirs =
            |pod: &&Pod| self.owners.iter().any(|owner| pod.owner().is_some_and(|of| *of == owner.uid));
        self.owners.iter().all(is_held_by) && self.members.iter().all(is_theirs)
    }
}

impl<'a> Standoff<'a> {
    /// The one in this leaf, if several gangs wait for room that they use themselves.
    fn of(leaf: &Leaf<'a>, queue: &QueuePlan, may_hold: bool, resources: &[Resource]) -> Option<Self> {
        let mut gangs = PartialGang::all(leaf, resources);
        if gangs.len() < 2 {
            return None;
        }
        let mut room = queue.allocated.max(&queue.target);
        room.subtract_all(&leaf.staying);
        // Of a gang that has room the pods are only not created yet.
        if gangs.iter().any(|gang| has_room(&room, &gang.lacks)) {
            return None;
        }
        let holdable: Vec<bool> = gangs.iter().map(|gang| may_hold && gang.can_be_held()).collect();
        let used = |is_counted: &dyn Fn(usize) -> bool| {
            let mut used = room.clone();
            let counted = gangs.iter().enumerate().filter(|(at, _)| is_counted(*at));
            counted.for_each(|(_, gang)| used.add_all(&gang.uses));
            used
        };
        let fits_beside = |room: &Amounts, (at, gang): (usize, &PartialGang<'_>), own: bool| {
            let mut room = room.clone();
            if own {
                room.subtract_all(&gang.uses);
            }
            has_room(&room, &gang.lacks).then_some(at)
        };
        let all = used(&|_| true);
        let first = gangs.iter().enumerate().find_map(|gang| fits_beside(&all, gang, true))?;
        let held = used(&|at| holdable.get(at).is_some_and(|holdable| *holdable));
        let is_holdable = |at: usize| holdable.get(at).copied().unwrap_or_default();
        let resolved = gangs.iter().enumerate().find_map(|gang| fits_beside(&held, gang, is_holdable(gang.0)));
        let completed = gangs.remove(resolved.unwrap_or(first));
        let mut standoff = Self { completed, others: gangs, yielding: Vec::new() };
        if resolved.is_some() {
            standoff.choose(room);
        }
        Some(standoff)
    }

    /// Removes the least important gangs until the other one fits into `room`, and reprieves those that are not needed.
    fn choose(&mut self, mut room: Amounts) {
        for (at, gang) in self.others.iter().enumerate().rev().filter(|(_, gang)| gang.can_be_held()) {
            if has_room(&room, &self.completed.lacks) {
                break;
            }
            room.add_all(&gang.uses);
            self.yielding.push(at);
        }
        let (others, lacks) = (&self.others, &self.completed.lacks);
        for at in self.yielding.clone().into_iter().rev() {
            let Some(gang) = others.get(at) else { continue };
            let mut without = room.clone();
            without.subtract_all(&gang.uses);
            if has_room(&without, lacks) {
                room = without;
                self.yielding.retain(|yielding| *yielding != at);
            }
        }
    }

    fn yielding(&self) -> impl Iterator<Item = &PartialGang<'a>> {
        self.yielding.iter().filter_map(|at| self.others.get(*at))
    }

    /// When the newest pod of a gang that is completed or yields was created.
    fn newest(&self) -> Timestamp {
        let pods = self.yielding().chain([&self.completed]).flat_map(|gang| &gang.members);
        pods.map(|pod| pod.created).max().unwrap_or_default()
    }

    /// Names in `queue` which gangs wait for each other.
    fn tell(&self, due: Timestamp, queue: &mut QueuePlan) {
        let yielding = self.yielding().next();
        let yields = yielding.and_then(PartialGang::who).map(|who| (who, due));
        let beside_completed = yielding.or(self.others.first());
        let pairs = self.others.iter().map(|gang| (gang, Some(&self.completed)));
        for (gang, other) in pairs.chain([(&self.completed, beside_completed)]) {
            let Some((other, counts)) = other.and_then(|other| Some((other.who()?, other.counts()))) else { continue };
            let members = gang.counts();
            for who in gang.owners.iter().map(|owner| Preemptor::of(owner)) {
                for unmet in queue.unmet.iter_mut().filter(|unmet| unmet.who == who) {
                    unmet.reason = Reason::GangIncomplete;
                }
                let (other, yields) = ((other.clone(), counts), yields.clone());
                queue.incomplete_gangs.push(IncompleteGang { who, members, other, yields });
            }
        }
    }

    /// The Jobs of the gangs that yield, each without pods.
    fn scalings(&self, queue: &QueueName) -> Vec<Scaling> {
        let scaling = |gang: &PartialGang<'_>, owner: &Owner| {
            let is_own = |pod: &&&Pod| pod.owner().is_some_and(|of| *of == owner.uid);
            let id = |pod: &&Pod| PodId {
                namespace: queue.namespace.clone(),
                name: pod.name.clone(),
                uid: pod.uid.clone(),
            };
            Some(Scaling {
                namespace: queue.namespace.clone(),
                queue: queue.clone(),
                owner: owner.uid.clone(),
                setter: owner.size.setter.clone()?,
                from: owner.size.written,
                to: 0,
                former: Some(owner.size.written),
                pods: gang.members.iter().filter(is_own).map(id).collect(),
                marks: Vec::new(),
                lifts: Vec::new(),
                priority: owner.priority,
                beneficiaries: self.completed.who().into_iter().collect(),
                reason: Reason::GangIncomplete,
            })
        };
        let of_gang = |gang: &PartialGang<'a>| -> Vec<Scaling> {
            gang.owners.iter().filter_map(|owner| scaling(gang, owner)).collect()
        };
        self.yielding().flat_map(of_gang).collect()
    }
}

/// Whether `room`, which may be negative, has everything that is requested.
fn has_room(room: &Amounts, requests: &Amounts) -> bool {
    requests.iter().all(|(resource, requested)| !requested.is_positive() || requested <= room.get(resource))
}
