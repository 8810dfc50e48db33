//! Slots for the QueueJobs of every namespace, out of what is decided for its queue.
//!
//! What a queue loses is decided before, and by other rules: pods that go for others are no longer counted as running
//! here, and what is divided is what stays.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::amounts::{Amounts, Resource};
use crate::choice::Context;
use crate::demand::PendingPods;
use crate::intra_queue::YieldedSlots;
use crate::keyed::{KeyedMap, KeyedSet};
use crate::names::{Namespace, OwnerUid, PodUid, QueueName};
use crate::plan::{
    JobAmounts, Plan, PodCounts, QueueJobName, QueueJobPhase, QueueJobPlan, QueuePlan, SlotReason,
};
use crate::slots::{self, CompetingPods, GangClaim, SlotRoom, TaskClaim};
use crate::snapshot::{
    Ended, Mode, NamespaceState, OwnerKind, Phase, Pod, Preemption, QueueJob, QueueTask, Settings,
};
use crate::time::{Timestamp, earliest};
use crate::total::total;

/// How long a gang that did not start rests the first time; twice as long each time after.
const FIRST_REST_SECONDS: i64 = 60;

/// Decides on the slots of all QueueJobs, once everything else is decided, what they yield to others of their queue included.
pub(super) fn decide(context: Context<'_>, yielded: &YieldedSlots, plan: &mut Plan) {
    let cluster = context.cluster;
    let snapshot = cluster.snapshot;
    if snapshot.namespaces.values().all(|state| state.queue_jobs.is_empty()) {
        return;
    }
    let going = plan.evictions.iter().chain(&plan.waiting).map(|eviction| &eviction.pod);
    // Those that yield to others of their queue do so for the QueueJobs that are owed room here.
    let going = going.chain(plan.scalings.iter().flat_map(|scaling| &scaling.pods));
    let going: FxHashSet<PodUid> = going.map(|pod| pod.uid.clone()).collect();
    let mut next_change = plan.next_change;
    let mut decided = Vec::new();
    let (nothing, no_amounts) = (FxHashSet::default(), Arc::default());
    for (namespace, state) in snapshot.namespaces.iter().filter(|(_, state)| !state.queue_jobs.is_empty()) {
        let queue = cluster.leaf_in(namespace).and_then(|leaf| Some((leaf, plan.queues.get(&leaf.name)?)));
        let takes = plan.held.is_none() && queue.is_none_or(|(_, queue)| queue.reach.evicts());
        let pods_of_tasks = pods_of_tasks(state, &going, if takes { &yielded.pods } else { &nothing });
        let (now, no_amounts) = (snapshot.now, &no_amounts);
        let place = Place { namespace, state, plan, now, pods_of_tasks, takes, no_amounts };
        // In a namespace that is being deleted no Job can be created: nothing starts there, as without a queue.
        let jobs = match queue.filter(|_| !state.terminating) {
            Some((leaf, queue)) => {
                // Where workloads yield to each other, it is decided already which refused pods get room.
                let competing = match leaf.queue.preemption {
                    Preemption::LowerPriority => {
                        yielded.competing.get(&leaf.name).cloned().unwrap_or_default()
                    }
                    Preemption::Never => leaf.demand.pending_pods.iter().filter_map(competing_pods).collect(),
                };
                let lasting = queue.allocated.less(&context.on_pods(leaf.at, &queue.allocated));
                let room = place.room(&queue.allocated, &lasting, &going);
                place.divide(&leaf.name, queue, &room, &competing)
            }
            None => place.without_queue(&snapshot.settings),
        };
        for (job, of_job) in state.queue_jobs.iter().zip(jobs) {
            next_change = earliest(next_change, place.due(job, &of_job));
            decided.push((QueueJobName { namespace: namespace.clone(), name: job.name.clone() }, of_job));
        }
    }
    plan.queue_jobs = decided.into_iter().collect();
    plan.next_change = next_change;
}

/// The pods of one task.
#[derive(Clone, Copy, Debug, Default)]
struct TaskPods {
    /// Those that stay.
    staying: u32,
    /// Of these, the ones that have started.
    started: u32,
    /// Those on their way out, or about to be.
    leaving: u32,
    /// Of these, the ones that are still to be evicted.
    going: u32,
    /// Of those that stay, the ones that lose their slots to others of the queue.
    yielding: u32,
}

/// The pods of every owner, by the owner's uid.
fn pods_of_tasks<'a>(
    state: &'a NamespaceState,
    going: &FxHashSet<PodUid>,
    yielding: &FxHashSet<PodUid>,
) -> KeyedMap<&'a OwnerUid, TaskPods> {
    let mut pods_of_tasks: KeyedMap<&OwnerUid, TaskPods> = KeyedMap::default();
    for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
        let Some(owner) = pod.owner() else { continue };
        let task_pods = pods_of_tasks.entry(owner).or_default();
        let is_going = going.contains(&pod.uid);
        let leaves = pod.is_terminating() || is_going;
        let counter = if leaves { &mut task_pods.leaving } else { &mut task_pods.staying };
        *counter = counter.saturating_add(1);
        task_pods.going = task_pods.going.saturating_add(u32::from(is_going && !pod.is_terminating()));
        task_pods.yielding = task_pods.yielding.saturating_add(u32::from(yielding.contains(&pod.uid)));
        let started = !leaves && pod.phase == Phase::Running;
        task_pods.started = task_pods.started.saturating_add(u32::from(started));
    }
    pods_of_tasks
}

/// A namespace with QueueJobs.
struct Place<'a> {
    namespace: &'a Namespace,
    state: &'a NamespaceState,
    plan: &'a Plan,
    now: Timestamp,
    pods_of_tasks: KeyedMap<&'a OwnerUid, TaskPods>,
    /// Whether slots may be taken at all.
    takes: bool,
    /// The amounts of those that get nothing.
    no_amounts: &'a Arc<JobAmounts>,
}

impl Place<'_> {
    /// What the queue may have or keeps anyway, and the part of it that is `lasting`, both less what its other pods hold for
    /// good.
    fn room(&self, allocated: &Amounts, lasting: &Amounts, going: &FxHashSet<PodUid>) -> SlotRoom {
        let (mut staying, mut others) = (Amounts::new(), Amounts::new());
        // What was running before a spec became invalid stays.
        let divided = self.state.queue_jobs.iter().filter(|job| job.invalid.is_none());
        let tasks: KeyedSet<&OwnerUid> =
            divided.flat_map(|job| job.tasks.iter().map(|task| &task.owner)).collect();
        for pod in self.state.pods.iter().filter(|pod| pod.is_live() && !going.contains(&pod.uid)) {
            staying.add_all(pod.requests());
            if pod.owner().is_none_or(|owner| !tasks.contains(owner)) {
                others.add_all(pod.requests());
            }
        }
        others.subtract_all(&self.surplus_of_others());
        SlotRoom { all: allocated.max(&staying).less(&others), lasting: lasting.less(&others) }
    }

    /// What owners have above what they want: it is about to go.
    fn surplus_of_others(&self) -> Amounts {
        let others = self.state.owners.iter().filter(|owner| owner.kind != OwnerKind::QueueJob);
        total(others.map(|owner| {
            let task_pods = self.pods_of_tasks.get(&owner.uid).copied().unwrap_or_default();
            owner.shape.requests.times(task_pods.staying.saturating_sub(owner.wanted))
        }))
    }

    /// What admission lets in beside all pods that are there, and those that are about to come.
    fn free(&self) -> Amounts {
        let Some(quota) = &self.state.quota else { return Amounts::new() };
        let charged = total(self.state.pods.iter().filter(|pod| pod.is_charged()).map(Pod::requests));
        // Admission may know of pods that are not seen yet.
        let mut charged = charged.max(&quota.charged.amounts());
        for task in self.state.queue_jobs.iter().flat_map(|job| &job.tasks) {
            charged.add_all(&task.shape.requests.times(self.to_come(task)));
        }
        let free = |resource: &Resource| {
            let bounds = [quota.hard.get(resource), self.state.foreign_quotas.get(resource)];
            let most = bounds.into_iter().flatten().fold(quota.enforced.get(resource)?, Ord::min);
            Some((resource.clone(), most.less(charged.get(resource))))
        };
        self.plan.resources.iter().filter_map(free).collect()
    }

    fn task_pods(&self, task: &QueueTask) -> TaskPods {
        self.pods_of_tasks.get(&task.owner).copied().unwrap_or_default()
    }

    /// How many pods the task's Job has still to create.
    fn to_come(&self, task: &QueueTask) -> u32 {
        let task_pods = self.task_pods(task);
        task.may_run().saturating_sub(task_pods.staying).saturating_sub(task_pods.leaving)
    }

    /// Divides the `room` that the other pods of the queue leave.
    fn divide(
        &self,
        name: &QueueName,
        queue: &QueuePlan,
        room: &SlotRoom,
        competing: &[CompetingPods],
    ) -> Vec<QueueJobPlan> {
        let (jobs, plan) = (&self.state.queue_jobs, self.plan);
        let late: Vec<bool> = jobs.iter().map(|job| self.takes && self.is_late(job)).collect();
        let may_claim = |job: &QueueJob| !job.is_resting(self.now) && !self.yields_wholly(job);
        let claims = |(job, late): &(&QueueJob, &bool)| may_claim(job) && !**late;
        let claiming: Vec<&QueueJob> = jobs.iter().zip(&late).filter(claims).map(|(job, _)| job).collect();
        let claims: Vec<GangClaim> =
            claiming.iter().map(|job| self.claim(job, |task| self.most(job, task))).collect();
        let slots = slots::divide(room, &claims, competing, &plan.capacity, &plan.resources);
        let slots: Vec<Vec<u32>> = slots.into_iter().map(|slots| slots.tasks).collect();
        // Where no pod is evicted, no slot is taken either.
        let least = |task: &TaskClaim| if self.takes { 0 } else { task.parallelism };
        let kept_slots = |(slots, claim): (&Vec<u32>, &GangClaim)| {
            slots.iter().zip(&claim.tasks).map(|(slots, task)| least(task).max(*slots)).collect()
        };
        let kept_slots: Vec<Vec<u32>> = slots.iter().zip(&claims).map(kept_slots).collect();
        let now = slots::bring(&claims, &kept_slots, &self.free(), &plan.resources);
        let mut given: KeyedMap<&Arc<str>, (Vec<u32>, Vec<u32>)> =
            claiming.iter().map(|job| &job.name).zip(slots.into_iter().zip(now)).collect();
        let decided = jobs.iter().zip(late).map(|(job, late)| {
            let mut decided = self.count(job);
            (decided.slots, decided.parallelism) = given.remove(&job.name).unwrap_or_else(|| {
                let kept = kept(job, job.invalid.is_none() || job.suspended || job.ended.is_some());
                (kept.clone(), kept)
            });
            if late {
                (decided.start_failures, decided.retry_at) = self.rest(job);
            }
            decided.reason = match decided.retry_at {
                Some(until) if self.now < until => SlotReason::StartTimeout,
                _ if decided.total() > 0 => SlotReason::Admitted,
                _ if decided.slots.iter().any(|count| *count > 0) => SlotReason::WaitingForQuota,
                _ if slots::fits_alone(&room.lasting, &self.claim(job, QueueTask::left), &plan.resources) => {
                    SlotReason::WaitingForRoom
                }
                _ => SlotReason::GangAboveShare,
            };
            decided.queue = Some(name.clone());
            decided.withheld = !queue.reach.writes_quotas();
            self.settle(job, &mut decided);
            decided
        });
        decided.collect()
    }

    /// Where no queue has a share, what runs stays as it is, and nothing else starts.
    fn without_queue(&self, settings: &Settings) -> Vec<QueueJobPlan> {
        let stalled = self.plan.stalled.keys().any(|queue| queue.namespace == *self.namespace);
        let own = self.state.governing().map(|queue| queue.mode).unwrap_or_default();
        let decide = |job: &QueueJob| {
            let mut decided = self.count(job);
            decided.slots = kept(job, job.suspended || job.ended.is_some());
            decided.parallelism = decided.slots.clone();
            decided.withheld = own.min(settings.mode) == Mode::Observe;
            decided.reason = if stalled { SlotReason::QueueStalled } else { SlotReason::NoQueue };
            self.settle(job, &mut decided);
            decided
        };
        self.state.queue_jobs.iter().map(decide).collect()
    }

    /// Whether it has had its slots for so long without running that others should have them.
    fn is_late(&self, job: &QueueJob) -> bool {
        !job.is_resting(self.now) && self.deadline(job).is_some_and(|deadline| deadline <= self.now)
    }

    /// When it should run; none if it does, or has no slots.
    fn deadline(&self, job: &QueueJob) -> Option<Timestamp> {
        let since = job.remembered.admitted?.max(job.remembered.unready?);
        let holds = job.tasks.iter().any(|task| task.parallelism > 0);
        (holds && !self.is_ready(job)).then(|| since.plus_seconds(job.start_timeout_seconds.into()))
    }

    /// How often it has failed to start, and until when it rests.
    fn rest(&self, job: &QueueJob) -> (u32, Option<Timestamp>) {
        let failures = job.remembered.start_failures.saturating_add(1);
        let rest =
            (FIRST_REST_SECONDS << failures.saturating_sub(1).min(16)).min(QueueJob::LONGEST_REST_SECONDS);
        (failures, self.deadline(job).map(|deadline| deadline.max(self.now).plus_seconds(rest)))
    }

    fn is_ready(&self, job: &QueueJob) -> bool {
        suffices(job, |task| self.task_pods(task).started)
    }

    /// Whether so many of its pods yield that less than its minimum is left.
    fn yields_wholly(&self, job: &QueueJob) -> bool {
        self.yields(job) && !suffices(job, |task| self.most(job, task))
    }

    fn yields(&self, job: &QueueJob) -> bool {
        job.tasks.iter().any(|task| self.task_pods(task).yielding > 0)
    }

    /// How many pods of a task may run at most: none in the place of one that yields.
    fn most(&self, job: &QueueJob, task: &QueueTask) -> u32 {
        let now = task.parallelism.saturating_sub(self.task_pods(task).yielding);
        if self.yields(job) { now.min(task.left()) } else { task.left() }
    }

    /// What it asks for, where each task may have at most so many pods.
    fn claim(&self, job: &QueueJob, most: impl Fn(&QueueTask) -> u32) -> GangClaim {
        let task = |task: &QueueTask| {
            let pods = self.task_pods(task);
            let running = pods.staying.saturating_add(self.to_come(task)).saturating_sub(pods.yielding);
            let (requests, most) = (task.shape.requests.clone(), most(task));
            let parallelism = task.parallelism;
            TaskClaim { requests, most, floor: task.floor(), running, parallelism }
        };
        let tasks: Vec<TaskClaim> = job.tasks.iter().map(task).collect();
        let may_run = job.sum(QueueTask::may_run);
        let running = tasks.iter().map(|task| task.running).fold(0, u32::saturating_add);
        GangClaim {
            name: job.name.clone(),
            priority: job.priority,
            created: job.created,
            floor: job.floor(),
            admitted: may_run > 0 && may_run >= job.floor(),
            intact: running >= job.floor(),
            is_losing: job.tasks.iter().any(|task| self.task_pods(task).going > 0),
            tasks,
        }
    }

    /// What can be counted, whatever is decided.
    fn count(&self, job: &QueueJob) -> QueueJobPlan {
        let mut pods = PodCounts::default();
        for task in &job.tasks {
            let task_pods = self.task_pods(task);
            let terminating = task_pods.leaving.saturating_sub(task_pods.going);
            // What is still to be evicted runs until then.
            pods.running = pods.running.saturating_add(task_pods.started).saturating_add(task_pods.going);
            pods.pending = pods.pending.saturating_add(task_pods.staying.saturating_sub(task_pods.started));
            pods.terminating = pods.terminating.saturating_add(terminating);
        }
        let ready = self.is_ready(job);
        QueueJobPlan {
            uid: job.uid.clone(),
            generation: job.generation,
            problem: job.invalid.clone(),
            min_available: job.min_available,
            amounts: Arc::clone(self.no_amounts),
            pods,
            succeeded: job.succeeded(),
            failed: job.failed(),
            left: job.sum(QueueTask::left),
            start_failures: if ready { 0 } else { job.remembered.start_failures },
            retry_at: job.rests_until(self.now),
            ..QueueJobPlan::default()
        }
    }

    /// Writes down what the slots of a QueueJob come to, and where it stands with that.
    fn settle(&self, job: &QueueJob, decided: &mut QueueJobPlan) {
        let requested = |counts: &[u32]| {
            let of_tasks = job.tasks.iter().zip(counts);
            total(of_tasks.map(|(task, count)| task.shape.requests.times(*count))).of(&self.plan.resources)
        };
        let pods = |task: &QueueTask| {
            let task_pods = self.task_pods(task);
            task_pods.staying.saturating_add(task_pods.leaving)
        };
        let amounts = JobAmounts {
            deserved: requested(&decided.slots),
            allocated: requested(&decided.parallelism),
            used: requested(&job.tasks.iter().map(pods).collect::<Vec<u32>>()),
        };
        if amounts != **self.no_amounts {
            decided.amounts = Arc::new(amounts);
        }
        decided.had = job.sum(QueueTask::may_run);
        let slots = decided.slots.iter().copied().fold(0, u32::saturating_add);
        decided.loses = slots < decided.had && job.ended.is_none() && !job.suspended;
        // A Job all of whose pods have succeeded is about to say so; suspended it would not.
        decided.suspend = decided.total() == 0 && job.tasks.iter().any(|task| task.left() > 0);
        (decided.phase, decided.reason) = match job.ended {
            Some(Ended::Complete) => (QueueJobPhase::Complete, SlotReason::Finished),
            Some(Ended::Failed) => (QueueJobPhase::Failed, SlotReason::Finished),
            None if job.invalid.is_some() => (QueueJobPhase::Waiting, SlotReason::InvalidSpec),
            None if job.suspended => (QueueJobPhase::Suspended, SlotReason::Suspended),
            None if decided.suspend => (QueueJobPhase::Waiting, decided.reason),
            None if self.is_ready(job) => (QueueJobPhase::Running, decided.reason),
            None => (QueueJobPhase::Starting, decided.reason),
        };
    }

    /// When another decision on it is due although nothing happens.
    fn due(&self, job: &QueueJob, decided: &QueueJobPlan) -> Option<Timestamp> {
        let deadline = self.deadline(job).filter(|deadline| *deadline > self.now);
        earliest(deadline.filter(|_| !job.is_resting(self.now)), decided.retry_at)
    }
}

/// Whether so many pods of each task cover what the gang cannot do without.
fn suffices(job: &QueueJob, pods: impl Fn(&QueueTask) -> u32) -> bool {
    job.sum(&pods) >= job.floor() && job.tasks.iter().all(|task| pods(task) >= task.floor().min(task.left()))
}

/// What the Jobs of a QueueJob have, or nothing if it `ends`.
fn kept(job: &QueueJob, ends: bool) -> Vec<u32> {
    job.tasks.iter().map(|task| if ends { 0 } else { task.parallelism }).collect()
}

/// The refused pods of an owner.
fn competing_pods(pending: &PendingPods<'_>) -> Option<CompetingPods> {
    let owner = pending.owner;
    (owner.kind != OwnerKind::QueueJob && pending.counted > 0).then(|| CompetingPods {
        name: Arc::clone(&owner.name),
        priority: owner.priority,
        created: owner.created,
        requests: owner.shape.requests.clone(),
        pods: pending.counted,
    })
}
