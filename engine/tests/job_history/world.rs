//! The world, step by step.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use quotient_advance::{advance, settle};
use quotient_engine::amounts::{Amount, Amounts, Bounds, Resource};
use quotient_engine::names::{Namespace, NodeName, OwnerUid, QueueJobUid, QueueUid};
use quotient_engine::plan::{Plan, QueueJobPhase, SlotReason};
use quotient_engine::snapshot::{
    Admission, Ended, Gang, NamespaceState, Node, Owner, OwnerKind, Phase, Pod, Preemption, Queue, QueueJob,
    QueueTask, Shape, Snapshot,
};
use quotient_engine::time::Timestamp;

use super::event::JobSpec;
use super::{Beginning, Event};
use crate::forest::everything;

/// More steps than any world needs to come to rest.
const MOST_STEPS: usize = 60;

/// A cluster with QueueJobs.
#[derive(Debug)]
pub(crate) struct World {
    snapshot: Snapshot,
}

fn cpus(count: u32) -> Amounts {
    [(Resource::Cpu, Amount::new(i128::from(count) * 1000))].into_iter().collect()
}

fn one_cpu() -> Arc<Shape> {
    Arc::new(Shape { requests: cpus(1), ..Shape::default() })
}

impl World {
    pub(crate) fn begin(beginning: &Beginning) -> Self {
        let mut snapshot = Snapshot { now: Timestamp::from_seconds(1000), ..Snapshot::default() };
        snapshot.settings.resources = [Resource::Cpu].into();
        for (number, size) in beginning.nodes.iter().enumerate() {
            let node = Node { allocatable: cpus(*size), counts: true, ..Node::default() };
            snapshot.nodes.insert(NodeName::new(format!("n{number}")), Arc::new(node));
        }
        for (number, spec) in beginning.queues.iter().enumerate() {
            let name = Namespace::new(format!("ns{number}"));
            let queue = Queue {
                uid: QueueUid::new(name.as_str()),
                name: "queue".into(),
                weight: spec.weight,
                limit: spec
                    .limit
                    .map(cpus)
                    .map(|limit| limit.iter().map(owned).collect())
                    .unwrap_or_default(),
                request: if spec.observed { Bounds::new() } else { everything() },
                admission: if spec.gated { Admission::Gate } else { Admission::Quota },
                preemption: if spec.yields { Preemption::LowerPriority } else { Preemption::Never },
                ..Queue::default()
            };
            let state = NamespaceState { queues: vec![queue], ..NamespaceState::default() };
            snapshot.namespaces.insert(name, Arc::new(state));
        }
        Self { snapshot }
    }

    /// Lets `event`, the `number`th, happen. What there is nothing of does not happen.
    pub(crate) fn happen(&mut self, number: usize, event: &Event) {
        let now = self.snapshot.now;
        match event {
            Event::Submitted { queue, job } => {
                let (_, state) = self.namespace(*queue);
                submit(state, &format!("job-{number}"), job, now);
            }
            Event::Toggled(at) => self.job(*at, |job, _| job.suspended = !job.suspended),
            Event::Resized(at, replicas) => self.job(*at, |job, _| {
                let floors: u32 = job.tasks.iter().skip(1).map(|task| task.min_available).sum();
                let task = &mut job.tasks[0];
                task.replicas = (*replicas).max(task.succeeded);
                task.min_available = task.min_available.min(task.replicas);
                let all: u32 = job.tasks.iter().map(|task| task.replicas).sum();
                job.min_available = job.min_available.min(all).max(floors + job.tasks[0].min_available);
            }),
            Event::Deleted(at) => self.job(*at, |job, pods| {
                pods.retain(|pod| job.tasks.iter().all(|task| pod.owner() != Some(&task.owner)));
                job.ended = Some(Ended::Failed);
            }),
            Event::Succeeded(at) => {
                self.succeed(*at);
            }
            Event::PodDeleted(at) => self.job(*at, |job, pods| {
                let its = |pod: &Pod| job.tasks.iter().any(|task| pod.owner() == Some(&task.owner));
                if let Some(at) = pods.iter().position(its) {
                    pods.remove(at);
                }
            }),
            Event::Scaled { queue, replicas } => {
                let (name, state) = self.namespace(*queue);
                let uid = OwnerUid::new(format!("{name}/web"));
                let created =
                    state.owners.iter().find(|owner| owner.uid == uid).map_or(now, |owner| owner.created);
                state.owners.retain(|owner| owner.uid != uid);
                let (shape, wanted) = (one_cpu(), *replicas);
                state.owners.push(Owner {
                    uid,
                    name: "web".into(),
                    created,
                    wanted,
                    shape,
                    ..Owner::default()
                });
            }
            Event::LimitChanged(at, limit) => {
                let (_, state) = self.namespace(*at);
                state.queues[0].limit =
                    limit.map(cpus).map(|limit| limit.iter().map(owned).collect()).unwrap_or_default();
            }
            Event::NodeToggled(at) => {
                let count = self.snapshot.nodes.len();
                let node = self.snapshot.nodes.values_mut().nth(at % count).unwrap();
                let counts = node.counts;
                Arc::make_mut(node).counts = !counts;
            }
            Event::TimePasses(seconds) => self.snapshot.now = now.plus_seconds(*seconds),
        }
    }

    fn namespace(&mut self, at: usize) -> (Namespace, &mut NamespaceState) {
        let count = self.snapshot.namespaces.len();
        let (name, state) = self.snapshot.namespaces.iter_mut().nth(at % count).unwrap();
        (name.clone(), Arc::make_mut(state))
    }

    /// Changes one of the QueueJobs that have not come to an end.
    fn job(&mut self, at: usize, change: impl FnOnce(&mut QueueJob, &mut Vec<Pod>)) {
        let mut all = Vec::new();
        for (name, state) in &self.snapshot.namespaces {
            let lasting = state.queue_jobs.iter().enumerate().filter(|(_, job)| job.ended.is_none());
            all.extend(lasting.map(|(index, _)| (name.clone(), index)));
        }
        let Some(place) = at.checked_rem(all.len()) else { return };
        let (name, index) = all.swap_remove(place);
        let state = Arc::make_mut(self.snapshot.namespaces.get_mut(&name).unwrap());
        change(&mut state.queue_jobs[index], &mut state.pods);
        show_owners(state);
    }

    /// One of the running pods of QueueJobs ends well; says whether there was one.
    fn succeed(&mut self, at: usize) -> bool {
        let mut all = Vec::new();
        for (name, state) in &self.snapshot.namespaces {
            for (index, pod) in state.pods.iter().enumerate() {
                let runs = pod.phase == Phase::Running && pod.is_live() && pod.gang().is_some();
                all.extend(runs.then(|| (name.clone(), index)));
            }
        }
        let Some(place) = at.checked_rem(all.len()) else { return false };
        let (name, index) = all.swap_remove(place);
        let state = Arc::make_mut(self.snapshot.namespaces.get_mut(&name).unwrap());
        let pod = state.pods.remove(index);
        for job in &mut state.queue_jobs {
            for task in job.tasks.iter_mut().filter(|task| Some(&task.owner) == pod.owner()) {
                task.succeeded = (task.succeeded + 1).min(task.replicas);
            }
            if job.tasks.iter().all(|task| task.left() == 0) {
                job.ended = job.ended.or(Some(Ended::Complete));
            }
        }
        show_owners(state);
        true
    }

    /// One step, and what has to hold in every one.
    pub(crate) fn step(&mut self) -> Result<(Plan, bool), TestCaseError> {
        let (settled, plan) = settle(&self.snapshot);
        Self::gangs_are_whole(&settled, &plan)?;
        let advanced = advance(&settled, &plan);
        let rests = advanced.rests(&settled);
        self.snapshot = advanced.snapshot;
        Ok((plan, rests))
    }

    /// A gang that may run a pod may run as many as it needs, of every task.
    fn gangs_are_whole(settled: &Snapshot, plan: &Plan) -> Result<(), TestCaseError> {
        for (name, decided) in &plan.queue_jobs {
            let jobs = &settled.namespaces[&name.namespace].queue_jobs;
            let job = jobs.iter().find(|job| job.name == name.name).unwrap();
            let left: u32 = job.tasks.iter().map(QueueTask::left).sum();
            let loses =
                plan.evictions.iter().chain(&plan.waiting).any(|one| one.pod.namespace == name.namespace);
            // One that was made smaller while it ran keeps what it has until there is room for what it lacks.
            let is_rest = decided.had < job.floor() && decided.total() <= decided.had;
            if loses || decided.total() == 0 || is_rest {
                continue;
            }
            prop_assert!(decided.total() >= job.floor().min(left), "{name}: {decided:?}\n{job:?}");
            for (task, count) in job.tasks.iter().zip(&decided.parallelism).filter(|_| decided.had == 0) {
                prop_assert!(*count >= task.floor().min(task.left()), "{name}: {decided:?}\n{job:?}");
            }
        }
        Ok(())
    }

    /// Without further events, but that pods end well, all come to their end that can run at all.
    pub(crate) fn all_end(&mut self) -> Result<(), TestCaseError> {
        for node in self.snapshot.nodes.values_mut() {
            Arc::make_mut(node).counts = true;
        }
        let mut plan = self.until_rest()?;
        while self.succeed(0) {
            plan = self.until_rest()?;
        }
        for (name, decided) in &plan.queue_jobs {
            let is_over = matches!(
                decided.phase,
                QueueJobPhase::Complete | QueueJobPhase::Failed | QueueJobPhase::Suspended
            );
            let cannot = decided.reason == SlotReason::GangAboveShare;
            prop_assert!(is_over || cannot, "{name} waits for ever: {decided:?}\n{:?}", self.snapshot);
        }
        Ok(())
    }

    /// Until the world rests; where only time would change anything, it passes.
    fn until_rest(&mut self) -> Result<Plan, TestCaseError> {
        for _ in 0..MOST_STEPS {
            let (plan, rests) = self.step()?;
            if !rests {
                continue;
            }
            let waits = |job: &quotient_engine::plan::QueueJobPlan| {
                job.reason == SlotReason::StartTimeout || job.phase == QueueJobPhase::Starting
            };
            // The step itself may have lasted until then.
            match plan.next_change.filter(|_| plan.queue_jobs.values().any(waits)) {
                Some(next) => self.snapshot.now = next.max(self.snapshot.now),
                None => return Ok(plan),
            }
        }
        Err(TestCaseError::fail(format!("it does not come to rest: {:?}", self.snapshot)))
    }
}

fn owned((resource, amount): (&Resource, Amount)) -> (Resource, Amount) {
    (resource.clone(), amount)
}

fn submit(state: &mut NamespaceState, name: &str, spec: &JobSpec, now: Timestamp) {
    let tasks = spec.tasks.iter().enumerate().map(|(number, (replicas, floor))| QueueTask {
        name: format!("t{number}").into(),
        owner: OwnerUid::new(format!("{name}-t{number}")),
        replicas: *replicas,
        min_available: *floor,
        shape: one_cpu(),
        ..QueueTask::default()
    });
    state.queue_jobs.push(QueueJob {
        uid: QueueJobUid::from(name),
        name: name.into(),
        created: now,
        priority: spec.priority,
        min_available: spec.min,
        start_timeout_seconds: 60,
        tasks: tasks.collect(),
        ..QueueJob::default()
    });
    show_owners(state);
}

/// What the tasks want stands among the owners, too. A Job that has all its completions deletes the rest of its pods.
fn show_owners(state: &mut NamespaceState) {
    state.owners.retain(|owner| owner.kind != OwnerKind::QueueJob);
    let tasks = state.queue_jobs.iter().flat_map(|job| &job.tasks);
    let complete: BTreeSet<&OwnerUid> =
        tasks.filter(|task| task.left() == 0).map(|task| &task.owner).collect();
    state.pods.retain(|pod| pod.owner().is_none_or(|owner| !complete.contains(owner)));
    for job in state.queue_jobs.iter().filter(|job| job.ended.is_none()) {
        for task in job.tasks.iter().filter(|task| task.left() > 0) {
            state.owners.push(Owner {
                uid: task.owner.clone(),
                kind: OwnerKind::QueueJob,
                name: format!("{}/{}", job.name, task.name).into(),
                created: job.created,
                wanted: if job.suspended { 0 } else { task.left() },
                shape: Arc::clone(&task.shape),
                gang: Some(Gang { name: QueueJob::gang_name(&job.name), min_available: job.min_available }),
                priority: job.priority,
                ..Owner::default()
            });
        }
    }
}
