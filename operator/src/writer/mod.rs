//! The one writer: carries out a plan, in the order that keeps Σ max(hard, charged) ≤ C.
//!
//! The ledger, then default requests, quotas that lower something, then those that only raise, then evictions, and beside
//! them requeues and removals of scheduling gates; then sizes of workloads that yield inside their queue; at last the Jobs of
//! QueueJobs. What is written is decided by [`operations`](crate::operations) and how by the [`executor`](crate::executor).
//! Here stands what was written before, which saves requests, and what is told of it. What failed is decided on again by the
//! next cycle, from what is then seen.
//!
//! The rights that this needs are in `files/rights.json` of the chart.

mod drift;
mod eviction_outcome;
mod evictions;
mod lacking;
mod limit_ranges;
mod queue_jobs;
mod quotas;
mod refusals;
mod requeues;
mod restores;
mod scalings;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quotient_engine::ledger::Ledger;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::plan::{Plan, PodId};
use quotient_engine::snapshot::{Admission, Mode, Snapshot};
use quotient_index::Index;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::context::Context;
use crate::executor::{Class, Completed, Executor, Key, Operation, Pace, Purpose, Requeue, TurnLength};
use crate::ledger::{Dropped, LedgerKeeper, Vacancies};
use crate::metrics::show_count;
use crate::operations::{Observed, operations, queue_jobs::next_expiry};
use crate::settings::{LedgerSettings, WriteSettings};
use crate::status::{Blocked, JobStatuses, blocked_queues};

use evictions::Evictions;
use limit_ranges::LimitRanges;
use queue_jobs::bounded;
use quotas::Quotas;
use requeues::Requeuer;
use scalings::Scalings;

/// Carries out plans, one after the other.
pub struct Writer {
    /// None where no plan grants anything, because the operator's own mode is Observe. Then it has no right to write it.
    ledger: Option<LedgerKeeper>,
    vacancies: Vacancies,
    executor: Executor,
    memory: Memory,
    /// The controllers that are to look again.
    requeues: Vec<Requeue>,
    /// The quotas to count anew, each with whether by the second of both writes.
    usage_resyncs: BTreeSet<(Namespace, bool)>,
    /// When a quota may be counted anew again to see whether the quota controller runs.
    next_proof: Option<Instant>,
}

/// How often a quota is counted anew while the quota controller is not seen to run.
const PROOF_INTERVAL: Duration = Duration::from_secs(10);

/// How long one proof is waited for: the quota controller copies an amount within moments.
const PROOF_PATIENCE: Duration = Duration::from_secs(2);

/// How often it is looked for.
const PROOF_LOOK: Duration = Duration::from_millis(20);

/// What is remembered of operations.
struct Memory {
    context: Context,
    quotas: Quotas,
    limit_ranges: LimitRanges,
    evictions: Evictions,
    scalings: Scalings,
    job_statuses: JobStatuses,
    requeuer: Requeuer,
    /// When operations that were put off in this cycle are due, or a QueueJob has been finished for long enough.
    alarms: BTreeMap<Class, Alarm>,
}

impl Writer {
    /// The writer of an operator in this `mode`.
    pub fn new(context: &Context, mode: Mode, settings: WriteSettings, ledger: LedgerSettings) -> Self {
        Self {
            ledger: (mode >= Mode::Quota).then(|| LedgerKeeper::new(context.clone(), ledger)),
            vacancies: Vacancies::new(context.clone()),
            executor: Executor::new(context.clone(), Pace::new(settings)),
            memory: Memory {
                context: context.clone(),
                quotas: Quotas::new(settings),
                limit_ranges: LimitRanges::new(settings),
                evictions: Evictions::new(context.clone()),
                scalings: Scalings::default(),
                job_statuses: JobStatuses::default(),
                requeuer: Requeuer::default(),
                alarms: BTreeMap::new(),
            },
            requeues: Vec::new(),
            usage_resyncs: BTreeSet::new(),
            next_proof: None,
        }
    }

    /// To be called before every snapshot: notes what was answered meanwhile, forgets what was only assumed and is stale by
    /// now, and has the ledger in view.
    ///
    /// # Errors
    ///
    /// With the reason, when nothing may be written because the ledger is not known.
    pub async fn before_snapshot(&mut self) -> Result<(), String> {
        self.catch_up();
        self.memory.quotas.note_enforced(&self.memory.context);
        if let Some(ledger) = &mut self.ledger {
            ledger.ready().await?;
            self.vacancies.confirm(ledger.version().as_ref()).await;
        }
        Ok(())
    }

    fn catch_up(&mut self) {
        while let Some(completed) = self.executor.completed_already() {
            self.memory.settle(&completed);
        }
        self.memory.evictions.end_assumptions();
    }

    /// Writes down what `plan` grants and owes, which is the ledger `next`. Only then may it be carried out.
    ///
    /// # Errors
    ///
    /// The plan must be dropped.
    pub async fn grant(&mut self, next: Option<Ledger>, plan: &Plan) -> Result<(), Dropped> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let targets = plan.leaves().map(|(name, queue)| (name.namespace.clone(), queue.target.clone()));
        ledger.write(next, &targets.collect()).await
    }

    /// Finds the controllers in `snapshot` that are to be told that there is room for their pods.
    pub fn find_requeues(&mut self, snapshot: &Snapshot) {
        let view = &self.memory.context.view;
        let charged = |namespace: &Namespace| {
            let charged = |index: &mut Index| Some(index.observed_quota(namespace)?.charged.clone());
            view.read(charged).unwrap_or_default()
        };
        self.requeues = self.memory.requeuer.due(snapshot, charged, Instant::now());
    }

    /// Writes the quotas of `plan`. Returns when every call was answered or timed out.
    pub async fn write_quotas(&mut self, plan: &Plan) {
        // Before the quotas that refuse what they make up for.
        self.carry_out(&[Class::LimitRange], plan).await;
        self.carry_out(&[Class::Quota], plan).await;
        let risen = self.memory.quotas.take_risen();
        self.memory.requeuer.risen(risen);
        let both = |namespace: Namespace| [(namespace.clone(), false), (namespace, true)];
        self.usage_resyncs = self.memory.requeuer.take_usage_resyncs().into_iter().flat_map(both).collect();
        self.carry_out(&[Class::UsageResync], plan).await;
        if let Some(namespace) = self.proof(plan) {
            self.prove(namespace, plan).await;
        }
        self.usage_resyncs.clear();
    }

    /// Has the quota of `namespace` name one key more until the quota controller is seen to copy that, for two seconds at most.
    async fn prove(&mut self, namespace: Namespace, plan: &Plan) {
        let view = self.memory.context.view.clone();
        let enforced = || view.read(|index| index.quotas_enforced());
        let before = enforced();
        self.usage_resyncs = [(namespace.clone(), false)].into();
        self.carry_out(&[Class::UsageResync], plan).await;
        let begun = Instant::now();
        while enforced() == before && begun.elapsed() < PROOF_PATIENCE {
            tokio::time::sleep(PROOF_LOOK).await;
        }
        self.usage_resyncs = [(namespace, true)].into();
        self.carry_out(&[Class::UsageResync], plan).await;
    }

    /// Carries out the evictions of `plan`, and requeues and removals of gates beside them. Returns when every requeue and
    /// removal was answered or timed out, and every eviction was, or has been waited for long enough: see [`Writer::answered`].
    ///
    /// # Errors
    ///
    /// Nothing of it was carried out, because the ledger that `plan` was made from may not stand any more.
    pub async fn evict_and_admit(&mut self, plan: &Plan) -> Result<(), Dropped> {
        let classes = [Class::Gate, Class::Eviction, Class::Requeue];
        let due = self.due(&classes, plan);
        let evicts = due.iter().any(|operation| operation.purpose.key().class == Class::Eviction);
        if let Some(ledger) = self.ledger.as_mut().filter(|_| evicts) {
            ledger.confirm().await?;
        }
        self.send(due, &classes, plan).await;
        Ok(())
    }

    /// Carries out what `plan` says of sizes of workloads. Returns when every call was answered or timed out.
    pub async fn scale(&mut self, plan: &Plan) {
        self.carry_out(&[Class::Scaling], plan).await;
        self.memory.requeuer.promised(plan);
    }

    /// Has Jobs and statuses of QueueJobs say what `plan` does. Returns when every call was answered or timed out.
    pub async fn keep_queue_jobs(&mut self, plan: &Plan) {
        self.carry_out(&[Class::QueueJob], plan).await;
        self.carry_out(&[Class::JobStatus], plan).await;
    }

    /// Carries out the operations of these classes that `plan` wants and that are not put off.
    async fn carry_out(&mut self, classes: &[Class], plan: &Plan) {
        let due = self.due(classes, plan);
        self.send(due, classes, plan).await;
    }

    /// The operations of these classes that `plan` wants and that are not put off.
    fn due(&mut self, classes: &[Class], plan: &Plan) -> Vec<Operation> {
        let Self { executor, memory, requeues, usage_resyncs, .. } = self;
        let mut due = Vec::new();
        for class in classes {
            let now = memory.context.clock.now();
            let wanted = memory
                .context
                .view
                .read(|index| operations(*class, plan, &Observed { index, now, requeues, usage_resyncs }));
            let keys: BTreeSet<Key> = wanted.iter().map(|operation| operation.purpose.key()).collect();
            executor.wants(*class, |key| keys.contains(key));
            due.extend(memory.due(*class, wanted, plan, executor));
        }
        due
    }

    /// Carries out the operations that are `due` of these classes.
    async fn send(&mut self, due: Vec<Operation>, classes: &[Class], plan: &Plan) {
        let Self { executor, memory, .. } = self;
        let length = if frees_for_gated(plan) { TurnLength::FOR_GATED } else { TurnLength::USUAL };
        let postponed = executor.carry_out(due, length, |completed| memory.settle(&completed)).await;
        if classes.contains(&Class::Eviction) {
            let postponed = postponed.get(&Class::Eviction).copied().unwrap_or_default();
            show_count(&memory.context.metrics.evictions.postponed, postponed);
            memory.evictions.hold(executor.under_way());
            memory.evictions.report();
        }
    }

    /// The namespace whose quota is counted anew to see whether the quota controller runs, if `plan` waits for that.
    fn proof(&mut self, plan: &Plan) -> Option<Namespace> {
        let now = Instant::now();
        let queue = plan.unproven.as_ref().filter(|_| self.next_proof.is_none_or(|next| next <= now));
        if queue.is_some() || plan.unproven.is_none() {
            self.next_proof = queue.and_then(|_| now.checked_add(PROOF_INTERVAL));
        }
        queue.map(|queue| queue.namespace.clone())
    }

    /// Waits for the answer to an operation that is not waited for any more; for ever, if there is none. Says whether the loop
    /// should go on because of it. Nothing is lost if the waiting is given up.
    pub async fn answered(&mut self) -> bool {
        let Some(completed) = self.executor.completed().await else { return std::future::pending().await };
        let before = self.next_retry();
        self.memory.settle(&completed);
        self.executor.is_crowded() || self.next_retry() != before
    }

    /// Waits until every call was answered or has timed out. None may be begun any more.
    pub async fn finish(&mut self) {
        while let Some(completed) = self.executor.completed().await {
            self.memory.settle(&completed);
        }
        self.memory.evictions.report();
    }

    /// Quotas that the API server refuses, and why.
    pub fn refused_quotas(&self) -> BTreeMap<QueueName, String> {
        let quotas = self.executor.retries.refused().filter(|(key, _)| key.class == Class::Quota);
        quotas.map(|(key, why)| (key.queue(), why.to_owned())).collect()
    }

    /// Quotas that others change faster than they are restored, in words.
    pub fn contested_quotas(&self) -> BTreeMap<QueueName, String> {
        self.memory.quotas.drift.contested()
    }

    /// Queues for which evictions are blocked, and why.
    pub fn blocked_queues(&self, plan: &Plan) -> BTreeMap<QueueName, Blocked> {
        let Memory { context, evictions, .. } = &self.memory;
        let budgets = |pod: &PodId| context.view.read(|index| index.budgets_of(pod));
        blocked_queues(plan, budgets, &evictions.refusals.all(), Instant::now())
    }

    /// When the ledger is to be tried again that could not be read or written. Nothing else can be done before.
    pub fn next_try_of_ledger(&self) -> Option<Instant> {
        self.ledger.as_ref().and_then(LedgerKeeper::next_retry)
    }

    /// When something that was put off is to be tried again.
    pub fn next_retry(&self) -> Option<Instant> {
        let all = [
            self.next_try_of_ledger(),
            self.vacancies.next_retry(),
            self.executor.next_retry(),
            self.memory.evictions.next_retry(),
            self.memory.requeuer.next(),
            self.next_proof,
        ];
        let alarms = self.memory.alarms.values().map(|alarm| alarm.0);
        all.into_iter().chain(alarms).flatten().min()
    }
}

impl Memory {
    /// What of the operations `wanted` may be carried out in this cycle.
    fn due(
        &mut self,
        class: Class,
        wanted: Vec<Operation>,
        plan: &Plan,
        executor: &Executor,
    ) -> Vec<Operation> {
        let context = &self.context;
        let alarm = self.alarms.entry(class).or_default();
        *alarm = Alarm::default();
        match class {
            Class::LimitRange => self.limit_ranges.due(wanted, plan, alarm),
            Class::Quota => self.quotas.due(wanted, plan, alarm, context),
            Class::Eviction => self.evictions.due(wanted),
            Class::Scaling => self.scalings.due(wanted, executor, alarm, context),
            Class::QueueJob => {
                let now = Instant::now();
                let left = context.view.read(|index| next_expiry(plan, index, context.clock.now()));
                alarm.set(left.and_then(|left| now.checked_add(left)));
                let (taken, is_left) = bounded(wanted, executor);
                if is_left {
                    alarm.set(now);
                }
                taken
            }
            Class::JobStatus => self.job_statuses.due(plan, &executor.retries, alarm, context),
            Class::UsageResync | Class::Gate | Class::Requeue | Class::Status => wanted,
        }
    }

    /// Takes note of what became of an operation.
    fn settle(&mut self, completed: &Completed) {
        let context = &self.context;
        match &completed.purpose {
            Purpose::Quota { .. } => self.quotas.settle(completed, context),
            Purpose::LimitRange { .. } => self.limit_ranges.settle(completed, context),
            Purpose::Requeue(requeue) => self.requeuer.settle(requeue, &completed.outcome),
            Purpose::Eviction { eviction, queue, started } => {
                self.evictions.settle(eviction, (queue.as_ref(), *started), &completed.outcome);
            }
            Purpose::Mark { .. } | Purpose::Size(_) => self.scalings.settle(completed, context),
            Purpose::Job { name, .. } | Purpose::Expiry(name) => queue_jobs::settle(name, completed, context),
            Purpose::JobStatus { name, wanted } => {
                let alarm = self.alarms.entry(Class::JobStatus).or_default();
                self.job_statuses.settle(name, wanted, &completed.outcome, alarm);
            }
            // Nothing is remembered of these, and a status is written behind the loop.
            Purpose::UsageResync { .. } | Purpose::Gate(_) | Purpose::Status { .. } => {}
        }
    }
}

/// Whether an eviction of `plan` is for a queue in Gate mode.
fn frees_for_gated(plan: &Plan) -> bool {
    let is_gated =
        |queue: &QueueName| plan.queues.get(queue).is_some_and(|queue| queue.admission == Admission::Gate);
    plan.evictions.iter().filter_map(|eviction| eviction.beneficiary.as_ref()).any(is_gated)
}
