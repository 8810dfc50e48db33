//! The loop: something changed, so decide anew and carry it out.
//!
//! ```text
//!  changed ─► debounce ─► snapshot ─► plan (blocking thread) ─► quotas ─► evictions and nudges ─► report
//!                             ▲                   │                                   (statuses, behind)
//!                             └──── remembered ───┘
//! ```
//!
//! One cycle at a time: a plan is executed from the snapshot that it was made from, and the next snapshot is
//! taken when every write of the last plan has been answered or has timed out. So there is one writer, and what
//! it wrote is in the view before it decides again.

mod debounce;
mod remember;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp as Clock;
use quotient_engine::plan::{Plan, plan};
use quotient_engine::snapshot::Snapshot;
use quotient_engine::time::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::debug;

use crate::particulars::Particulars;
use crate::settings::Pace;
use crate::watch::Synced;
use crate::writer::{Report, Tools, Writer};
use debounce::Debounce;
use remember::remember;

/// The longest time without a sign of life while there is nothing to do.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Why the loop ended although nobody asked it to.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The engine panicked.
    #[error("compute a plan: {0}")]
    Plan(#[from] tokio::task::JoinError),
}

/// The loop.
pub struct Cycle {
    /// What it works with.
    pub tools: Tools,
    /// Whether the view is complete.
    pub synced: Synced,
    /// Carries plans out.
    pub writer: Writer,
    /// When cycles happen.
    pub pace: Pace,
    /// Where statuses are written from.
    pub reports: watch::Sender<Option<Arc<Report>>>,
}

/// What woke the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    /// Something that a decision depends on changed, or time did.
    Due,
    /// Nothing; it is time for a sign of life.
    Heartbeat,
    /// The process ends.
    Stop,
}

impl Cycle {
    /// Decides and writes until stopped.
    pub async fn run(mut self) -> Result<(), CycleError> {
        let start = Instant::now();
        let mut debounce = Debounce::new(self.pace.interval);
        let mut next = start;
        let mut led = false;
        loop {
            match self.wait(next, led).await {
                Wake::Stop => return Ok(()),
                Wake::Heartbeat => {
                    self.tools.beat.now();
                    if led != self.tools.leadership.is_held() {
                        next = Instant::now();
                    }
                    continue;
                }
                Wake::Due => {}
            }
            let earliest = start.checked_add(debounce.earliest(start.elapsed())).unwrap_or_else(Instant::now);
            tokio::select! {
                () = self.tools.stop.cancelled() => return Ok(()),
                () = tokio::time::sleep_until(earliest) => {}
            }
            self.tools.beat.now();
            debounce.started(start.elapsed());
            led = self.tools.leadership.is_held();
            self.tools.metrics.leader.set(i64::from(led));
            next = if !self.synced.is_complete() {
                in_future(HEARTBEAT)
            } else if led {
                self.lead().await?
            } else {
                self.follow();
                in_future(self.pace.resync)
            };
        }
    }

    async fn wait(&mut self, next: Instant, led: bool) -> Wake {
        let tools = &mut self.tools;
        let heartbeat = in_future(HEARTBEAT);
        let gained = async {
            if led {
                std::future::pending::<()>().await;
            }
            tools.leadership.gained().await;
        };
        tokio::select! {
            biased;
            () = tools.stop.cancelled() => Wake::Stop,
            () = tools.view.changed() => Wake::Due,
            () = gained => Wake::Due,
            () = tokio::time::sleep_until(next) => Wake::Due,
            () = tokio::time::sleep_until(heartbeat) => Wake::Heartbeat,
        }
    }

    /// One cycle of the leader. Returns when the next one is due even if nothing changes.
    async fn lead(&mut self) -> Result<Instant, CycleError> {
        let began = Instant::now();
        self.writer.before_snapshot();
        let now = Timestamp::from_millis(Clock::now().as_millisecond());
        let (snapshot, change) = self.tools.view.read(|index| (index.snapshot(now), index.next_change(now)));
        self.count(&snapshot);
        let nudges = self.writer.nudges(&snapshot);
        // The snapshot is dropped there, too: while it lives, whatever changes in the index has to be copied.
        let decide = move || {
            let plan = plan(&snapshot);
            let particulars = Particulars::of(&plan, &snapshot);
            (Arc::new(plan), Arc::new(particulars))
        };
        let (plan, particulars) = tokio::task::spawn_blocking(decide).await?;
        remember(&self.tools.view, &plan);
        let metrics = &self.tools.metrics;
        metrics.plan_duration.observe(began.elapsed().as_secs_f64());
        metrics.queues.show(&plan);
        self.tools.announcer.announce_plan(&plan, self.writer.mode());
        debug!(
            queues = plan.queues.len(),
            quotas = plan.quota_writes().count(),
            evictions = plan.evictions.len(),
            waiting = plan.waiting.len(),
            "planned"
        );

        self.writer.write_quotas(&plan).await;
        if !plan.evictions.is_empty() {
            // Shares are told before the evictions that they cause.
            self.report(&plan, &particulars);
        }
        self.writer.evict_and_nudge(&plan, nudges).await;
        self.report(&plan, &particulars);

        let metrics = &self.tools.metrics;
        metrics.cycle_duration.observe(began.elapsed().as_secs_f64());
        metrics.cycle_last_success.set(Clock::now().as_second());
        // When what was seen means something else although nothing happens: nodes ripen, refusals pass.
        let ripe = [change, plan.next_change].into_iter().flatten().min();
        let ripe = ripe.map(|at| in_future(Duration::from_millis(millis(at.millis_since(now)))));
        let due = [Some(in_future(self.pace.resync)), ripe, self.writer.next_retry()];
        Ok(due.into_iter().flatten().min().unwrap_or(began))
    }

    /// Hands the plan on to the statuses.
    fn report(&self, plan: &Arc<Plan>, particulars: &Arc<Particulars>) {
        self.reports.send_replace(Some(Arc::new(Report {
            plan: Arc::clone(plan),
            particulars: Arc::clone(particulars),
            refused: self.writer.refused_quotas(),
            blocked: self.writer.blocked_queues(plan, particulars),
        })));
    }

    /// What a replica does that does not lead: it keeps its view warm and reports no queue.
    fn follow(&self) {
        let now = Timestamp::from_millis(Clock::now().as_millisecond());
        let snapshot = self.tools.view.read(|index| index.snapshot(now));
        self.count(&snapshot);
        self.tools.metrics.queues.clear();
    }

    fn count(&self, snapshot: &Snapshot) {
        let namespaces = || snapshot.namespaces.values();
        let set = |kind: &str, count: usize| {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.tools.metrics.index_objects.with_label_values(&[kind]).set(count);
        };
        set("nodes", snapshot.nodes.len());
        set("pods", namespaces().map(|namespace| namespace.pods.len()).sum());
        set("queues", namespaces().map(|namespace| namespace.queues.len()).sum());
        set("resourcequotas", namespaces().filter(|namespace| namespace.quota.is_some()).count());
        set("owners", namespaces().map(|namespace| namespace.owners.len()).sum());
        set("poddisruptionbudgets", namespaces().map(|namespace| namespace.budgets.len()).sum());
    }
}

fn in_future(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now)
}

fn millis(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}
