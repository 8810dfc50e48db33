//! Owners that have fewer pods than they want, and the room that their quota still has.

use std::cmp::Reverse;
use std::collections::HashMap;

use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::OwnerUid;
use quotient_engine::snapshot::{NamespaceState, Owner, OwnerKind, Pod, Quota};
use quotient_engine::time::Timestamp;

/// The owners of a namespace that have fewer live pods than they want and how many they lack, most important first:
/// by priority, then by age. Last those that a newer revision of their Deployment replaces: room is given for that one's pods.
pub(super) fn lacking(state: &NamespaceState) -> Vec<(&Owner, u32)> {
    let mut live: HashMap<&OwnerUid, u32> = HashMap::new();
    for owner in state.pods.iter().filter(|pod| pod.is_live()).filter_map(Pod::owner) {
        let count = live.entry(owner).or_default();
        *count = count.saturating_add(1);
    }
    // A task of a QueueJob may run no more than its Job says.
    let tasks = state.queue_jobs.iter().flat_map(|job| &job.tasks);
    let parallelism: HashMap<&OwnerUid, u32> = tasks.map(|task| (&task.owner, task.parallelism)).collect();
    let wanted = |owner: &Owner| match owner.kind {
        OwnerKind::QueueJob => parallelism.get(&owner.uid).copied().unwrap_or_default().min(owner.wanted),
        _ => owner.wanted,
    };
    let missing =
        |owner: &Owner| wanted(owner).saturating_sub(live.get(&owner.uid).copied().unwrap_or_default());
    let all = state.owners.iter().map(|owner| (owner, missing(owner)));
    let mut lacking: Vec<(&Owner, u32)> = all.filter(|(_, missing)| *missing > 0).collect();
    let mut newest: HashMap<&OwnerUid, Timestamp> = HashMap::new();
    for (owner, deployment) in lacking.iter().filter_map(|(owner, _)| Some((owner, owner.deployment()?))) {
        let known = newest.entry(deployment).or_insert(owner.created);
        *known = owner.created.max(*known);
    }
    let is_replaced = |owner: &Owner| {
        owner.deployment().and_then(|uid| newest.get(uid)).is_some_and(|newest| owner.created < *newest)
    };
    let rank = |owner: &Owner| (is_replaced(owner), Reverse(owner.priority), owner.created);
    lacking.sort_by(|(a, _), (b, _)| rank(a).cmp(&rank(b)).then_with(|| a.uid.cmp(&b.uid)));
    lacking
}

/// What admission still lets into a namespace, of the resources that quotas bound there.
#[derive(Clone, Debug)]
pub(super) struct Room(Bounds);

impl Room {
    /// What is left of `quota`, and of the quotas of others, beside all pods that are charged.
    pub(super) fn of(state: &NamespaceState, quota: &Quota) -> Self {
        let mut charged = Amounts::new();
        // Admission goes by what is in force; a lower amount that is written will be in a moment.
        let bounding = [&quota.enforced, &quota.hard, &state.foreign_quotas];
        // What no quota bounds is not added up: pods may request as many resources as they can name.
        let is_bounded = |resource: &Resource| bounding.iter().any(|bounds| bounds.get(resource).is_some());
        for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
            for (resource, amount) in pod.requests().iter().filter(|(resource, _)| is_bounded(resource)) {
                charged.add(resource, amount);
            }
        }
        let mut room = Self(Bounds::new());
        for (resource, amount) in bounding.into_iter().flat_map(Bounds::iter) {
            room.bound(resource, amount.less(charged.get(resource)));
        }
        // A quota that is not enforced yet admits no pod.
        let pending = quota.hard.iter().filter(|(resource, _)| quota.enforced.get(resource).is_none());
        for (resource, _) in pending {
            room.0.set(resource.clone(), Amount::ZERO);
        }
        room
    }

    /// There is no more than `left`.
    fn bound(&mut self, resource: &Resource, left: Amount) {
        let least = self.0.get(resource).map_or(left, |least| least.min(left));
        self.0.set(resource.clone(), least);
    }

    /// No more than admission has left of `quota`, in which it has `charged` so much.
    pub(super) fn within_admission(mut self, quota: &Quota, charged: &Bounds) -> Self {
        for (resource, amount) in quota.enforced.iter() {
            let Some(charged) = charged.get(resource) else { continue };
            self.bound(resource, amount.less(charged));
        }
        self
    }

    /// Whether pods that request so much together are let in.
    pub(super) fn has(&self, requests: &Amounts) -> bool {
        requests.iter().all(|(resource, amount)| self.0.get(resource).is_none_or(|left| amount <= left))
    }

    /// As many of `pods` pods with these requests as are let in take their room.
    pub(super) fn take(&mut self, requests: &Amounts, pods: u32) {
        let fit = |(resource, amount): (_, Amount)| {
            self.0.get(resource).and_then(|left| left.units().checked_div(amount.units()))
        };
        let fit = requests.iter().filter_map(fit).min().unwrap_or_default().min(pods.into());
        for (resource, amount) in requests.iter() {
            if let Some(left) = self.0.get(resource) {
                self.0.set(resource.clone(), left.less(amount.times(fit)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use crate::tests::plan::cpu;

    use quotient_engine::amounts::Resource;
    use quotient_engine::snapshot::{PodMetadata, QueueJob, QueueTask, Shape, Workload};

    fn shape(milli: i128) -> Arc<Shape> {
        Arc::new(Shape { requests: cpu(milli), ..Shape::default() })
    }

    fn owner(uid: &str, wanted: u32, priority: i32, created: i64) -> Owner {
        Owner {
            uid: uid.into(),
            kind: OwnerKind::ReplicaSet,
            name: uid.into(),
            generation: 1,
            created: Timestamp::from_seconds(created),
            wanted,
            shape: shape(1),
            gang: None,
            priority,
            ..Owner::default()
        }
    }

    fn pod(owner: &str, cpu: i128, leaving: bool) -> Pod {
        let owner = Workload { uid: owner.into(), ..Workload::default() };
        let metadata = PodMetadata { owner: Some(owner), ..PodMetadata::default() };
        let deletion = leaving.then(Timestamp::default);
        Pod { metadata: Arc::new(metadata), shape: shape(cpu), deletion, ..Pod::default() }
    }

    #[test]
    fn who_lacks_pods_is_found_most_important_first() {
        let owners = vec![
            owner("content", 1, 9, 1),
            owner("younger", 1, 0, 2),
            owner("older", 3, 0, 1),
            owner("important", 1, 1, 9),
        ];
        let pods = vec![pod("content", 1, false), pod("older", 1, false), pod("older", 1, true)];
        let state = NamespaceState { owners, pods, ..NamespaceState::default() };
        let found: Vec<_> = lacking(&state).iter().map(|(owner, missing)| (&*owner.name, *missing)).collect();
        assert_eq!(found, [("important", 1), ("older", 2), ("younger", 1)]);
    }

    /// Before, each task was looked for among all: with 100,000 QueueJobs of a tenant one cycle of the operator took minutes.
    #[test]
    fn every_task_of_many_queue_jobs_is_found_at_once() {
        let task = |at: usize, parallelism| QueueTask {
            owner: format!("job-{at}").as_str().into(),
            parallelism,
            ..QueueTask::default()
        };
        let all = 0..50_000;
        let of_job = |at: usize| Owner { kind: OwnerKind::QueueJob, ..owner(&format!("job-{at}"), 3, 0, 1) };
        let job = |at| QueueJob { tasks: vec![task(at, 2)], ..QueueJob::default() };
        let state = NamespaceState {
            owners: all.clone().map(of_job).collect(),
            queue_jobs: all.map(job).collect(),
            ..NamespaceState::default()
        };
        let begun = Instant::now();
        let found = lacking(&state);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert_eq!(found.len(), 50_000);
        assert!(found.iter().all(|(_, missing)| *missing == 2));
    }

    #[test]
    fn a_newer_revision_of_a_deployment_comes_before_the_former() {
        let of = |deployment: &str, owner: Owner| {
            let controller = Some(Arc::new(Workload { uid: deployment.into(), ..Workload::default() }));
            Owner { controller, ..owner }
        };
        let former = of("web", owner("former", 3, 1, 1));
        let newer = of("web", owner("newer", 3, 1, 5));
        let owners = vec![former, newer, owner("other", 1, 0, 2), of("api", owner("only", 1, 0, 3))];
        let state = NamespaceState { owners, ..NamespaceState::default() };
        let found: Vec<_> = lacking(&state).iter().map(|(owner, _)| &*owner.name).collect();
        assert_eq!(found, ["newer", "other", "only", "former"]);
    }

    #[test]
    fn room_is_what_every_quota_leaves_beside_pods_that_leave_too() {
        let pods = vec![pod("a", 2, false), pod("a", 1, true)];
        let room = |hard: i128, enforced: i128, foreign: Option<i128>| {
            let foreign_quotas = foreign.map(cpu).unwrap_or_default();
            let state = NamespaceState { pods: pods.clone(), foreign_quotas, ..NamespaceState::default() };
            let quota = Quota { hard: cpu(hard), enforced: cpu(enforced), ..Quota::default() };
            Room::of(&state, &quota).0.get(&Resource::Cpu).unwrap().units()
        };
        assert_eq!(room(9, 9, None), 6);
        assert_eq!(room(9, 4, None), 1);
        assert_eq!(room(4, 9, None), 1);
        assert_eq!(room(9, 9, Some(5)), 2);
        assert_eq!(room(2, 2, None), 0);
    }

    #[test]
    fn a_quota_that_is_not_in_force_yet_has_none() {
        let quota = Quota { hard: cpu(9), ..Quota::default() };
        let room = Room::of(&NamespaceState::default(), &quota);
        assert!(!room.has(&shape(1).requests));
    }

    #[test]
    fn as_many_as_fit_take_room() {
        let mut room = Room(cpu(5));
        room.take(&shape(2).requests, 9);
        assert_eq!(room.0, cpu(1));
        assert!(room.has(&shape(1).requests) && !room.has(&shape(2).requests));
        // What no quota bounds always fits, and takes nothing.
        let gpu: Amounts = [(Resource::from_name("nvidia.com/gpu"), Amount::new(1))].into_iter().collect();
        room.take(&gpu, 3);
        assert!(room.has(&gpu));
        assert_eq!(room.0, cpu(1));
    }
}
