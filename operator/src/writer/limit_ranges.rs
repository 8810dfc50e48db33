//! Writing LimitRanges: what containers request that do not say it, so that no quota refuses them.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt, stream};
use quotient_crds::names::LIMIT_RANGE;
use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName, QueueUid};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_index::limit_ranges::LimitRangeDue;
use tokio::time::Instant;
use tracing::{info, warn};

use super::Tools;
use super::limit_range_call::{self, Outcome};
use super::owning_queue::OwningQueue;
use super::quota_call::listed;
use super::retry::Retries;
use crate::events::Notice;
use crate::settings::WriteSettings;

/// Keeps the LimitRanges.
///
/// Nothing that keeps the cluster safe depends on them, so one that others change is put right at once the first time, and
/// then only now and then.
pub(super) struct LimitRangeWriter {
    tools: Tools,
    parallel: usize,
    interval: Duration,
    retries: Retries<Namespace>,
    /// What was written last, and for which Queue; nothing where it was deleted.
    written: BTreeMap<Namespace, (QueueUid, Bounds)>,
    /// When somebody else's change was put right.
    repaired: BTreeMap<Namespace, Instant>,
    /// When the first of those that had to wait in this cycle may be put right.
    waiting: Option<Instant>,
    /// Why it could not be written, as far as that was told.
    told: BTreeMap<Namespace, String>,
}

/// One thing to do.
struct Task {
    namespace: Namespace,
    /// The Queue that governs the namespace.
    queue: QueueName,
    uid: QueueUid,
    due: LimitRangeDue,
}

impl LimitRangeWriter {
    pub(super) const fn new(tools: Tools, settings: WriteSettings) -> Self {
        Self {
            tools,
            parallel: settings.quotas_in_parallel,
            interval: settings.repair_interval,
            retries: Retries::new(),
            written: BTreeMap::new(),
            repaired: BTreeMap::new(),
            waiting: None,
            told: BTreeMap::new(),
        }
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.retries.next().into_iter().chain(self.waiting).min()
    }

    /// Has the LimitRange of every namespace say what its Queue does.
    pub(super) async fn settle(&mut self, plan: &Plan) {
        let now = Instant::now();
        let tasks = tasks(&self.tools, plan);
        self.forget(&tasks, now);
        let due: Vec<Task> = tasks.into_iter().filter(|task| self.may_begin(task, now)).collect();
        let tools = &self.tools;
        let writes = due.into_iter().map(|task| async move {
            let queue = OwningQueue { name: &task.queue, uid: &task.uid };
            let outcome = limit_range_call::carry_out(tools, queue, &task.due).await;
            (task, outcome)
        });
        let writes: Vec<_> = writes.collect();
        let outcomes: Vec<_> = stream::iter(writes)
            .buffer_unordered(self.parallel)
            .inspect(|_| tools.beat.now())
            .collect()
            .await;
        for (task, outcome) in outcomes {
            self.done(task, outcome);
        }
    }

    /// Forgets failures that are none any more, and repairs of long ago.
    fn forget(&mut self, tasks: &[Task], now: Instant) {
        let is_due = |namespace: &Namespace| tasks.iter().any(|task| task.namespace == *namespace);
        self.retries.retain(is_due);
        self.told.retain(|namespace, _| is_due(namespace));
        self.repaired.retain(|_, at| now.saturating_duration_since(*at) < self.interval);
        self.waiting = None;
    }

    /// Whether the call is to be made now.
    fn may_begin(&mut self, task: &Task, now: Instant) -> bool {
        if task.due == LimitRangeDue::Taken {
            let why = format!(
                "the namespace has a LimitRange named \"{LIMIT_RANGE}\" that Quotient does not keep; rename that one, or \
                 have it give the defaults"
            );
            self.tell_refusal(task, why);
            return false;
        }
        if self.retries.is_waiting(&task.namespace, now) {
            return false;
        }
        if self.written.get(&task.namespace) != Some(&(task.uid.clone(), task.due.defaults())) {
            return true;
        }
        // It was written so, and is not so any more.
        let due = self.repaired.get(&task.namespace).and_then(|at| at.checked_add(self.interval));
        if let Some(due) = due.filter(|due| now < *due) {
            self.waiting = self.waiting.into_iter().chain([due]).min();
            return false;
        }
        warn!(namespace = %task.namespace, "another writer changed the LimitRange; it is restored");
        self.repaired.insert(task.namespace.clone(), now);
        true
    }

    fn done(&mut self, task: Task, outcome: Outcome) {
        match outcome {
            Outcome::Done => {
                let defaults = task.due.defaults();
                if defaults.is_empty() {
                    info!(namespace = %task.namespace, "removed the LimitRange");
                } else {
                    info!(namespace = %task.namespace, defaults = %listed(&defaults), "wrote the LimitRange");
                }
                self.retries.clear(&task.namespace);
                self.told.remove(&task.namespace);
                let told = Notice::DefaultRequestsWritten { queue: task.queue, defaults: defaults.clone() };
                self.tools.announcer.announce(told);
                self.written.insert(task.namespace, (task.uid, defaults));
            }
            Outcome::Skipped => {}
            Outcome::Failed { why, refused } => {
                warn!(namespace = %task.namespace, error = why, "the LimitRange was not written");
                self.retries.failed(&task.namespace, why, refused, Instant::now());
                // One refusal is what a race looks like.
                let lasting = self.retries.refused().find(|(namespace, _)| **namespace == task.namespace);
                if let Some(why) = lasting.map(|(_, why)| why.to_owned()) {
                    self.tell_refusal(&task, why);
                }
            }
        }
    }

    /// Tells the Queue why its default requests are not in force, once.
    fn tell_refusal(&mut self, task: &Task, why: String) {
        let queue = &task.queue;
        if self.told.get(&task.namespace) == Some(&why) {
            return;
        }
        warn!(%queue, error = why, "the default requests are not in force");
        self.told.insert(task.namespace.clone(), why.clone());
        self.tools.announcer.announce(Notice::DefaultRequestsRefused { queue: queue.clone(), why });
    }
}

/// What is to be done where, by what is in view: nothing where no quota is written.
fn tasks(tools: &Tools, plan: &Plan) -> Vec<Task> {
    let written = |queue: &QueuePlan| !queue.is_parent && queue.reach.writes_quotas();
    let leaves = plan.queues.iter().filter(|(_, queue)| written(queue));
    tools.view.read(|index| {
        let task = |(queue, plan): (&QueueName, &QueuePlan)| {
            let due = index.limit_range_due(&queue.namespace, &queue.name)?;
            Some(Task {
                namespace: queue.namespace.clone(),
                queue: queue.clone(),
                uid: plan.uid.clone(),
                due,
            })
        };
        leaves.filter_map(task).collect()
    })
}
