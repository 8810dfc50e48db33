//! A gang while a room is divided.

use super::claim::{GangClaim, GangSlots, TaskClaim};
use super::room::{ResourceVec, Room, vector};
use crate::amounts::Resource;

/// A gang while a room is divided, and the slots that it has so far.
pub(super) struct Gang<'a> {
    pub(super) claim: &'a GangClaim,
    /// What a pod of each task requests.
    vectors: Vec<ResourceVec>,
    pub(super) slots: GangSlots,
    /// What its slots request.
    pub(super) used: ResourceVec,
}

impl<'a> Gang<'a> {
    /// One without slots.
    pub(super) fn new(claim: &'a GangClaim, resources: &[Resource]) -> Self {
        let vectors = claim.tasks.iter().map(|task| vector(resources, &task.requests)).collect();
        let slots = GangSlots { fits: false, tasks: vec![0; claim.tasks.len()] };
        Self { claim, vectors, slots, used: ResourceVec::from_elem(0, resources.len()) }
    }

    /// What its running pods request.
    pub(super) fn running(&self) -> ResourceVec {
        self.requests_of(self.claim.tasks.iter().map(|task| task.running.min(task.most)))
    }

    /// What so many pods of each task request.
    fn requests_of(&self, counts: impl IntoIterator<Item = u32>) -> ResourceVec {
        let mut requests = ResourceVec::from_elem(0, self.used.len());
        self.vectors.iter().zip(counts).for_each(|(vector, count)| add(&mut requests, vector, count));
        requests
    }

    /// Gives it its floor if there is room for all of it, and one slot if it needs none to be of use.
    pub(super) fn let_in(&mut self, left: &mut Room) {
        let floors = self.claim.floors();
        if left.take_all(&self.vectors, &floors) {
            self.used = self.requests_of(floors.iter().copied());
            self.slots = GangSlots { fits: true, tasks: floors };
        }
        if self.slots.total() == 0 && self.claim.needs_nothing() {
            self.takes_one(left);
        }
    }

    /// Whether a task has fewer slots than this.
    pub(super) fn wants(&self, upto: fn(&TaskClaim) -> u32) -> bool {
        self.claim.tasks.iter().zip(&self.slots.tasks).any(|(task, has)| *has < upto(task))
    }

    /// Takes one more slot out of what is `left`, if one fits.
    ///
    /// It is for the first task in which a pod runs without a slot, else for the first that wants one.
    pub(super) fn takes_one(&mut self, left: &mut Room) -> bool {
        let Self { claim, vectors, slots, used } = self;
        for upto in [|task: &TaskClaim| task.running.min(task.most), |task: &TaskClaim| task.most] {
            for ((task, has), vector) in claim.tasks.iter().zip(&mut slots.tasks).zip(&*vectors) {
                if *has < upto(task) && left.fitting(vector, 1) == 1 {
                    *has = has.saturating_add(1);
                    left.take(vector, 1);
                    add(used, vector, 1);
                    return true;
                }
            }
        }
        false
    }
}

/// Adds what `pods` pods of `vector` request.
fn add(used: &mut ResourceVec, vector: &ResourceVec, pods: u32) {
    for (used, requested) in used.iter_mut().zip(vector) {
        *used = used.saturating_add(requested.saturating_mul(pods.into()));
    }
}
