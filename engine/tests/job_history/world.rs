//! The world, step by step.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use quotient_advance::{advance, settle};
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::plan::{Plan, QueueJobPhase, QueueJobPlan, SlotReason};
use quotient_engine::snapshot::{
    Ended, NamespaceState, OwnerKind, Phase, Pod, QueueJob, QueueTask, Snapshot,
};
use quotient_engine::time::Timestamp;

use super::Event;
use super::event::JobSpec;
use crate::cluster::cpu;
use crate::history::{pick_in, pick_pod};
use crate::story::parse;
use crate::story::parse::jobs::owners;
use crate::story::parse::put;

/// More steps than any world needs to come to rest.
const MOST_STEPS: usize = 60;

/// A cluster with QueueJobs.
#[derive(Debug)]
pub(crate) struct World {
    snapshot: Snapshot,
}

impl World {
    /// A world with nodes of so many cpu, and queues of which a story says this.
    pub(crate) fn begin(nodes: &[u32], queues: &[String]) -> Self {
        let mut story = String::new();
        for (number, cpu) in nodes.iter().enumerate() {
            writeln!(story, "node n{number} cpu={cpu}").unwrap();
        }
        for (number, words) in queues.iter().enumerate() {
            writeln!(story, "queue ns{number} {words}").unwrap();
        }
        Self { snapshot: parse(&story) }
    }

    /// Lets `event`, the `number`th, happen. What there is nothing of does not happen.
    pub(crate) fn happen(&mut self, number: usize, event: &Event) {
        let now = self.snapshot.now;
        match event {
            Event::Submitted { queue, job } => {
                let (name, _) = self.namespace(*queue);
                put(&mut self.snapshot, &submitted(&name, &format!("job-{number}"), job, now));
                follow(self.namespace(*queue).1);
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
                let standing = state.owners.iter().find(|owner| &*owner.name == "web");
                let created = standing.map_or(now, |owner| owner.created).millis() / 1000;
                put(
                    &mut self.snapshot,
                    &format!("owner {name}/web replicas={replicas} cpu=1 created={created}"),
                );
            }
            Event::LimitChanged(at, limit) => {
                let limit = limit.map(|limit| cpu(limit.into())).unwrap_or_default();
                self.namespace(*at).1.queues[0].limit = limit;
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
        let lasting = |state: &NamespaceState| {
            let jobs = state.queue_jobs.iter().enumerate();
            jobs.filter(|(_, job)| job.ended.is_none()).map(|(index, _)| index).collect()
        };
        if let Some((state, index)) = pick_in(&mut self.snapshot, at, lasting) {
            change(&mut state.queue_jobs[index], &mut state.pods);
            follow(state);
        }
    }

    /// One of the running pods of QueueJobs ends well; says whether there was one.
    fn succeed(&mut self, at: usize) -> bool {
        let runs = |pod: &Pod| pod.phase == Phase::Running && pod.is_live() && pod.gang().is_some();
        let Some((state, index)) = pick_pod(&mut self.snapshot, at, runs) else { return false };
        let pod = state.pods.remove(index);
        for job in &mut state.queue_jobs {
            for task in job.tasks.iter_mut().filter(|task| Some(&task.owner) == pod.owner()) {
                task.succeeded = (task.succeeded + 1).min(task.replicas);
            }
            if job.tasks.iter().all(|task| task.left() == 0) {
                job.ended = job.ended.or(Some(Ended::Complete));
            }
        }
        follow(state);
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
            let waits = |job: &QueueJobPlan| {
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

/// The lines of a QueueJob that comes.
fn submitted(namespace: &Namespace, name: &str, spec: &JobSpec, now: Timestamp) -> String {
    let JobSpec { min, priority, tasks } = spec;
    let created = now.millis() / 1000;
    let mut lines =
        format!("queuejob {namespace}/{name} min={min} priority={priority} created={created} timeout=60");
    for (at, (replicas, floor)) in tasks.iter().enumerate() {
        let task = format!("cpu=1 replicas={replicas}");
        if at == 0 {
            writeln!(lines, " {task} floor={floor}").unwrap();
        } else {
            writeln!(lines, "task {namespace}/{name}-t{at} of={name} {task} min={floor}").unwrap();
        }
    }
    lines
}

/// What the tasks want stands among the owners, too. A Job that has all its completions deletes the rest of its pods.
fn follow(state: &mut NamespaceState) {
    let tasks = state.queue_jobs.iter().flat_map(|job| &job.tasks);
    let complete: BTreeSet<&OwnerUid> =
        tasks.filter(|task| task.left() == 0).map(|task| &task.owner).collect();
    state.pods.retain(|pod| pod.owner().is_none_or(|owner| !complete.contains(owner)));
    state.owners.retain(|owner| owner.kind != OwnerKind::QueueJob);
    state.owners.extend(state.queue_jobs.iter().flat_map(owners));
}
