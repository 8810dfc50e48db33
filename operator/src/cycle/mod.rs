//! The loop: something changed, so decide anew and carry it out.
//!
//! ```text
//!  changed ─► debounce ─► snapshot ─► plan (blocking thread) ─► ledger ─► quotas ─► evictions and requeues ─► report
//!                             ▲                   │                │                          (statuses, behind)
//!                             ├──── remembered ───┘                │
//!                             └──────────── conflict ──────────────┘
//! ```
//!
//! One cycle at a time: a plan is executed from the snapshot that it was made from, and the next snapshot is
//! taken when every write of the last plan has been answered or has timed out. So there is one writer, and what
//! it wrote is in the view before it decides again. Evictions are waited for no longer than they are begun: room that the
//! first ones freed is not to wait for the answer to the last one. A pod that was asked to go counts as leaving meanwhile.

mod debounce;
mod remember;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::plan::Plan;
use quotient_engine::planner::Planner;
use quotient_engine::snapshot::Snapshot;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, info};

use crate::clock::Clock;
use crate::context::Context;
use crate::failed::Failed;
use crate::guards::Guards;
use crate::ledger::Dropped;
use crate::metrics::{CycleResult, show_count};
use crate::offered::Offer;
use crate::settings::Pace;
use crate::status::Report;
use crate::watch::Synced;
use crate::writer::Writer;
use debounce::Debounce;
use remember::remember;

/// The longest time without a sign of life while there is nothing to do.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The loop.
pub struct Cycle {
    /// What it works with.
    pub context: Context,
    /// Decides; a heartbeat or a resync without a change costs it nothing.
    pub planner: Planner,
    /// Whether the view is complete.
    pub synced: Synced,
    /// Whether what is seen can be trusted.
    pub guards: Guards,
    /// Carries plans out.
    pub writer: Writer,
    /// When cycles happen.
    pub pace: Pace,
    /// The Lease's name, if there is one.
    pub lease: Option<String>,
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

/// How a cycle of the leader ended.
struct Ended {
    /// When the next one is due even if nothing changes.
    next: Instant,
    result: CycleResult,
    /// How long planning took, if there was nothing to do and nothing waits.
    in_vain: Option<Duration>,
}

impl Cycle {
    /// Decides and writes until stopped, and then waits for what is under way.
    pub async fn run(mut self) -> Result<(), Failed> {
        self.until_stopped().await?;
        self.writer.finish().await;
        Ok(())
    }

    async fn until_stopped(&mut self) -> Result<(), Failed> {
        let mut debounce = Debounce::new(self.pace.interval);
        let mut next = Instant::now();
        let mut led = false;
        let mut is_first = true;
        loop {
            let wake = self.wait(next, led).await;
            self.guards.show_pulses(self.context.clock.since_epoch());
            match wake {
                Wake::Stop => return Ok(()),
                Wake::Heartbeat => {
                    self.context.beat.now();
                    if led != self.context.leadership.is_held() {
                        next = Instant::now();
                    }
                    continue;
                }
                Wake::Due => {}
            }
            let woken = Instant::now();
            self.context.metrics.standard.due();
            tokio::select! {
                biased;
                () = self.context.stop.cancelled() => return Ok(()),
                () = tokio::time::sleep_until(debounce.earliest(woken)) => {}
            }
            self.context.beat.now();
            debounce.started(Instant::now());
            led = self.context.leadership.is_held();
            self.show_leading(led);
            let began = Instant::now();
            self.context.metrics.standard.begun(began.saturating_duration_since(woken));
            let mut result = None;
            next = if !self.synced.is_complete() {
                in_future(HEARTBEAT)
            } else if led {
                let ended = self.lead().await?;
                if ended.result == CycleResult::Success && std::mem::take(&mut is_first) {
                    info!("the first cycle has ended");
                }
                if let Some(took) = ended.in_vain {
                    debounce.was_in_vain(took);
                }
                result = Some(ended.result);
                ended.next
            } else {
                self.follow();
                in_future(self.pace.resync)
            };
            self.context.metrics.standard.ended(began.elapsed(), result);
        }
    }

    async fn wait(&mut self, next: Instant, led: bool) -> Wake {
        let (context, writer) = (&mut self.context, &mut self.writer);
        let heartbeat = in_future(HEARTBEAT);
        let gained = async {
            if led {
                std::future::pending::<()>().await;
            }
            context.leadership.gained().await;
        };
        // What is answered is in the view then, and wakes the loop by itself if that is a reason for a decision.
        let go_on = async { while !writer.answered().await {} };
        tokio::select! {
            biased;
            () = context.stop.cancelled() => Wake::Stop,
            () = context.view.changed() => Wake::Due,
            () = gained => Wake::Due,
            () = go_on => Wake::Due,
            () = tokio::time::sleep_until(next) => Wake::Due,
            () = tokio::time::sleep_until(heartbeat) => Wake::Heartbeat,
        }
    }

    fn show_leading(&self, led: bool) {
        self.context.metrics.operator.leader.set(i64::from(led));
        if let Some(lease) = &self.lease {
            self.context.metrics.standard.leads(lease, led);
        }
    }

    /// One cycle of the leader.
    async fn lead(&mut self) -> Result<Ended, Failed> {
        let began = Instant::now();
        let ready = self.writer.before_snapshot().await;
        let now = self.context.clock.engine_now();
        let (mut snapshot, change, ledger, enforced) = self.context.view.read(|index| {
            (index.snapshot(now), index.next_change(now), index.ledger().cloned(), index.quotas_enforced())
        });
        snapshot.reclaim_gate = self.guards.reclaim_gate(&snapshot, enforced);
        self.count(&snapshot);
        if ready.is_ok() {
            self.writer.find_requeues(&snapshot);
        }
        // The snapshot is dropped there, too: while it lives, whatever changes in the index has to be copied.
        let mut planner = std::mem::take(&mut self.planner);
        let decisions = self.context.decisions.clone();
        let decide = move || {
            let plan = planner.plan(&snapshot);
            // Its parts are shared with the index, so this copies no pod.
            let kept = decisions.is_news(&plan).then(|| snapshot.clone());
            let offer = Offer::of(&snapshot);
            let granted = ledger.and_then(|ledger| plan.ledger_after(&ledger, &snapshot));
            (planner, plan, offer, granted, kept)
        };
        let (planner, plan, offer, granted, kept) = compute(decide, &self.context.clock).await?;
        self.planner = planner;
        remember(&self.context.view, &plan);
        let took = began.elapsed();
        self.show(&plan, offer, took);

        let granted = match ready {
            Ok(()) => self.writer.grant(granted, &plan).await,
            Err(why) => Err(Dropped::Stuck(why)),
        };
        if let Err(dropped) = granted {
            return Ok(self.drop(dropped, &plan));
        }
        let number = kept.as_ref().and_then(|snapshot| self.context.decisions.begin(snapshot, &plan));
        self.context.recorder.announce_plan(&plan);
        self.writer.write_quotas(&plan).await;
        if !plan.evictions.is_empty() {
            // Shares are told before the evictions that they cause.
            self.report(&plan, self.writer.refused_quotas());
        }
        let evicted = self.writer.evict_and_admit(&plan).await;
        // Packing takes longer than the decision did: it holds up no eviction.
        keep_decision(&self.context, number.zip(kept), &plan).await?;
        if let Err(dropped) = evicted {
            return Ok(self.drop(dropped, &plan));
        }
        self.writer.scale(&plan).await;
        self.report(&plan, self.writer.refused_quotas());
        self.writer.keep_queue_jobs(&plan).await;

        self.count_success(began);
        // When what was seen means something else although nothing happens: nodes ripen, refusals pass.
        let ripe = [change, plan.due()].into_iter().flatten().min();
        let ripe = ripe.map(|at| u64::try_from(at.millis_since(now)).unwrap_or_default());
        let next = self.next(ripe.map(Duration::from_millis)).unwrap_or(began);
        Ok(Ended { next, result: CycleResult::Success, in_vain: plan.is_calm().then_some(took) })
    }

    /// Ends a decision of which nothing more is carried out, because the ledger could not be written or does not stand any more.
    fn drop(&self, dropped: Dropped, plan: &Arc<Plan>) -> Ended {
        let Dropped::Stuck(why) = dropped else {
            let next = self.writer.next_retry().unwrap_or_else(Instant::now);
            return Ended { next, result: CycleResult::Requeue, in_vain: None };
        };
        let next = self.writer.next_try_of_ledger().unwrap_or_else(Instant::now);
        let stuck = plan.leaves().map(|(name, _)| (name.clone(), why.clone())).collect();
        self.report(plan, stuck);
        Ended { next, result: CycleResult::Error, in_vain: None }
    }

    fn count_success(&self, began: Instant) {
        let cycles = &self.context.metrics.cycles;
        cycles.duration.observe(began.elapsed().as_secs_f64());
        cycles.last_success.set(self.context.clock.now().as_second());
    }

    /// When to look again after a decision that was carried out, if what was seen means something else after `ripe`.
    fn next(&self, ripe: Option<Duration>) -> Option<Instant> {
        let ripe = ripe.map(in_future);
        let due =
            [Some(in_future(self.pace.resync)), ripe, self.writer.next_retry(), self.guards.next_look()];
        due.into_iter().flatten().min()
    }

    /// Shows what was decided in metrics and in the log.
    fn show(&self, plan: &Arc<Plan>, offer: Offer, took: Duration) {
        self.context.metrics.cycles.plan_duration.observe(took.as_secs_f64());
        self.context.metrics.queues.show(plan, offer);
        self.guards.show_unproven(plan.unproven.is_some());
        debug!(
            queues = plan.queues.len(),
            quotas = plan.quota_writes().count(),
            evictions = plan.evictions.len(),
            scalings = plan.scalings.len(),
            waiting = plan.waiting.len(),
            withheld = plan.withheld.len(),
            "planned"
        );
    }

    /// Hands the plan on to the statuses, with what was `refused` of it.
    fn report(&self, plan: &Arc<Plan>, refused: BTreeMap<QueueName, String>) {
        self.reports.send_replace(Some(Arc::new(Report {
            plan: Arc::clone(plan),
            refused,
            contested: self.writer.contested_quotas(),
            blocked: self.writer.blocked_queues(plan),
        })));
    }

    /// What a replica does that does not lead: it keeps its view warm and reports no queue.
    fn follow(&mut self) {
        let now = self.context.clock.engine_now();
        let (snapshot, enforced) =
            self.context.view.read(|index| (index.snapshot(now), index.quotas_enforced()));
        self.count(&snapshot);
        // The next leader knows already how large the cluster was.
        self.guards.reclaim_gate(&snapshot, enforced);
    }

    fn count(&self, snapshot: &Snapshot) {
        let namespaces = || snapshot.namespaces.values();
        let set = |kind: &str, count: usize| {
            show_count(&self.context.metrics.watches.objects.with_label_values(&[kind]), count);
        };
        set("nodes", snapshot.nodes.len());
        set("pods", namespaces().map(|namespace| namespace.pods.len()).sum());
        set("queues", namespaces().map(|namespace| namespace.queues.len()).sum());
        set("resourcequotas", namespaces().filter(|namespace| namespace.quota.is_some()).count());
        set("owners", namespaces().map(|namespace| namespace.owners.len()).sum());
        set("poddisruptionbudgets", namespaces().map(|namespace| namespace.budgets.len()).sum());
    }
}

/// Keeps the snapshot that a decision was made from, if the decision has a number.
async fn keep_decision(
    context: &Context,
    kept: Option<(u64, Snapshot)>,
    plan: &Arc<Plan>,
) -> Result<(), Failed> {
    let Some((number, snapshot)) = kept else { return Ok(()) };
    let (decisions, plan) = (context.decisions.clone(), Arc::clone(plan));
    compute(move || decisions.keep(number, &snapshot, &plan), &context.clock).await
}

/// Computes on a thread of its own, so that what has to answer meanwhile can. A runtime of one thread has none to give:
/// it belongs to a simulation, where threads would bring chance, and `clock` says how long it takes.
async fn compute<T: Send + 'static>(
    decide: impl FnOnce() -> T + Send + 'static,
    clock: &Clock,
) -> Result<T, Failed> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => {
            let decided = decide();
            clock.computed().await;
            Ok(decided)
        }
        _ => tokio::task::spawn_blocking(decide).await.map_err(Failed::to("compute a plan")),
    }
}

fn in_future(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing of a plan that was never made is carried out: the process ends, and the next one begins with full lists.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_of_the_engine_ends_the_loop() {
        let ended = compute::<()>(|| panic!("as the engine might"), &Clock::wall()).await;
        let said = ended.unwrap_err().to_string();
        assert!(said.starts_with("compute a plan: ") && said.contains("panicked"), "{said}");
    }
}
