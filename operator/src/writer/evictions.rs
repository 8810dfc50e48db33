//! Evicting pods: many at once, each once, none without need; and once more, with less grace, those that end too slowly.

use std::collections::btree_map::{Entry, OccupiedEntry};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use kube::core::Status;
use quotient_engine::names::{Namespace, PodName, QueueName, QueueUid};
use quotient_engine::plan::{Eviction, Plan, PodId};
use quotient_engine::reason::Reason;
use quotient_engine::time::Timestamp;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Tools;
use super::again::Again;
use super::backoff::Backoff;
use super::blocked::{Blocked, blocked_queues};
use super::eviction_body::eviction;
use super::flights::{Completed, Flights, InFlight};
use super::queue_budgets::QueueBudgets;
use super::rate::Rate;
use super::verdict::{Refusal, Verdict, verdict};
use crate::answer::ask;
use crate::clock::Clock;
use crate::events::{Notice, Reclaimed};
use crate::particulars::StatusDetails;
use crate::settings::WriteSettings;

/// How long one eviction may take. The API server repeats conflicts on a budget for about ten seconds itself.
const CALL: Duration = Duration::from_secs(12);

/// How long a pod counts as leaving when that is only assumed.
const ASSUMED: Duration = Duration::from_secs(10);

/// For how long one cycle asks for evictions, even if the API server is slow. Then the next cycle comes: it gives what
/// became free to those who wait for it, and goes on.
const CYCLE: Duration = Duration::from_millis(250);

/// For how long one cycle waits for answers. While they come, waiting for them paces what the API server is asked to do by
/// what it can do; one that hangs (a webhook, a budget that others write) holds up nobody else's share for longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long an evicted pod without a grace of its queue's is taken to need, until the watch shows its real deadline.
const GRACE_SECONDS: u64 = 30;

/// What metrics call an eviction.
const KIND: &str = "eviction";

/// What they call the reason of a refusal that says nothing about the pod.
const OVERLOADED: &str = "Overloaded";

/// Evicts pods.
pub(super) struct Evictor {
    tools: Tools,
    /// The most that are under way at a time in one namespace. Evictions that hang (a webhook, a budget that other clients
    /// write) hold up no other namespace; the rate bounds them all together.
    parallel: usize,
    per_cycle: usize,
    rate: Rate,
    per_queue: QueueBudgets,
    backoff: Backoff,
    again: Again,
    /// Pods that count as leaving although nobody has confirmed it, and until when.
    assumed: Vec<(Instant, PodId)>,
    /// When more of the last plan's evictions may be asked for than one cycle does.
    unfinished: Option<Instant>,
    /// What was asked for and is not answered yet, in this cycle or one before.
    flights: Flights,
    /// Whether more waits only for answers.
    crowded: bool,
    /// The evictions that were accepted and that no workload was told of.
    evicted: Vec<Eviction>,
    /// Who went without grace, by queue, that nobody was told of.
    untold: BTreeMap<QueueName, Vec<PodName>>,
}

/// One eviction to ask for.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// A pod that runs.
    Victim(&'a Eviction),
    /// A pod that is terminating and is given less grace.
    Again(&'a Eviction),
}

impl Wanted<'_> {
    const fn eviction(&self) -> &Eviction {
        match self {
            Self::Victim(eviction) | Self::Again(eviction) => eviction,
        }
    }

    const fn pod(&self) -> &PodId {
        &self.eviction().pod
    }
}

/// Evictions to ask for, by namespace, each with its place in the order of all.
type Queued<'a> = BTreeMap<&'a Namespace, VecDeque<(usize, Wanted<'a>)>>;

/// The evictions of one cycle.
struct Turn<'a> {
    began: Instant,
    /// What has not been looked at yet.
    left: Queued<'a>,
    asked: usize,
    /// How many wait for their queue's budget.
    postponed: usize,
}

impl Evictor {
    pub(super) fn new(tools: Tools, settings: WriteSettings) -> Self {
        Self {
            tools,
            parallel: settings.evictions_in_parallel,
            per_cycle: settings.evictions_per_cycle,
            rate: Rate::per_second(settings.evictions_per_second),
            per_queue: QueueBudgets::new(settings.evictions_per_queue),
            backoff: Backoff::default(),
            again: Again::default(),
            assumed: Vec::new(),
            unfinished: None,
            flights: Flights::default(),
            crowded: false,
            evicted: Vec::new(),
            untold: BTreeMap::new(),
        }
    }

    pub(super) fn blocked_queues(
        &self,
        plan: &Plan,
        particulars: &StatusDetails,
    ) -> BTreeMap<QueueName, Blocked> {
        blocked_queues(plan, particulars, &self.backoff, Instant::now())
    }

    pub(super) fn next_retry(&self) -> Option<Instant> {
        let assumed = self.assumed.iter().map(|(until, _)| *until).min();
        let now = Instant::now();
        [assumed, self.backoff.next(now), self.again.next(), self.unfinished].into_iter().flatten().min()
    }

    /// Takes note of what was answered by now. Pods that were only assumed to leave and are still there count as staying
    /// again.
    pub(super) fn catch_up(&mut self) {
        while let Some(landed) = self.flights.landed_already() {
            self.land(landed);
        }
        let now = Instant::now();
        let view = &self.tools.view;
        self.assumed.retain(|(until, pod)| {
            let keep = now < *until;
            if !keep {
                view.update(|index| index.pod_eviction_forgotten(pod));
            }
            keep
        });
    }

    /// Waits for the next answer; for ever, if none is to come. Says whether more may be asked for because of it, or
    /// something is to be tried again at another time than before.
    pub(super) async fn answered(&mut self) -> bool {
        let Some(landed) = self.flights.landed().await else { return std::future::pending().await };
        let before = self.next_retry();
        self.land(landed);
        self.crowded || self.next_retry() != before
    }

    /// Waits until everything is answered or has timed out, and tells of it.
    pub(super) async fn finish(&mut self) {
        while let Some(landed) = self.flights.landed().await {
            self.land(landed);
        }
        self.tell();
    }

    /// Asks for the evictions of `plan`, or as many as this cycle has time for. Returns when all that were asked for are
    /// answered, or have been waited for long enough. What is not answered by then counts as leaving until it is.
    pub(super) async fn evict(&mut self, plan: &Plan) {
        let now = Instant::now();
        self.backoff.forget_old(now);
        let victims = plan.evictions.iter().filter(|eviction| !self.backoff.is_waiting(&eviction.pod, now));
        let mut wanted: Vec<Wanted<'_>> = victims.map(Wanted::Victim).collect();
        // Last, for they give room to nobody who could not have it in half a minute as well.
        wanted.extend(self.again.due(&plan.shortened, now).into_iter().map(Wanted::Again));
        wanted.retain(|wanted| !self.flights.contains(wanted.pod()));
        self.per_queue.forget_rested(now);
        self.unfinished = None;
        let mut left = Queued::new();
        for (place, wanted) in wanted.iter().enumerate() {
            left.entry(&wanted.pod().namespace).or_default().push_back((place, *wanted));
        }
        let mut turn = Turn { began: now, left, asked: 0, postponed: 0 };
        let over = now.checked_add(PATIENCE).unwrap_or(now);
        loop {
            while let Some((at, wanted)) = self.next_due(&mut turn) {
                self.ask(plan, at, wanted);
            }
            // What a cycle before has waited for long enough is not waited for again.
            if turn.asked == 0 {
                break;
            }
            tokio::select! {
                biased;
                landed = self.flights.landed() => match landed {
                    Some(landed) => self.land(landed),
                    None => break,
                },
                () = tokio::time::sleep_until(over) => break,
            }
        }
        self.hold_what_is_under_way();
        let left = turn.left.values().map(VecDeque::len).sum();
        self.crowded = left > 0;
        let postponed = turn.postponed.saturating_add(left);
        self.tools.metrics.evictions.postponed.set(i64::try_from(postponed).unwrap_or(i64::MAX));
        self.tell();
    }

    fn ask(&mut self, plan: &Plan, at: Instant, wanted: Wanted<'_>) {
        let pod = wanted.pod().clone();
        let flight = match wanted {
            Wanted::Victim(eviction) => InFlight::Victim {
                eviction: Box::new(eviction.clone()),
                queue: plan.uid(&eviction.queue).cloned(),
                started: self.tools.view.read(|index| index.pod_started(&pod)),
            },
            Wanted::Again(eviction) => InFlight::Again(Box::new(eviction.clone())),
        };
        let call = evict_one(self.tools.clone(), at, pod.clone(), wanted.eviction().grace_seconds);
        self.flights.begin(pod, flight, call);
    }

    /// Until they are answered, pods that were asked to go count as leaving: nobody is asked to go instead.
    fn hold_what_is_under_way(&self) {
        for (pod, flight) in self.flights.iter() {
            if let InFlight::Victim { eviction, .. } = flight {
                let gone_by = deadline(&self.tools.clock, eviction.grace_seconds);
                self.tools.view.update(|index| index.pod_evicted(pod, gone_by));
            }
        }
    }

    /// Takes note of what became of an eviction.
    fn land(&mut self, (pod, flight, verdict): Completed) {
        self.tools.beat.now();
        match (flight, verdict) {
            (InFlight::Victim { eviction, queue, started }, Some(verdict)) => {
                self.note(&eviction, queue.as_ref(), started, verdict);
            }
            (InFlight::Victim { .. }, None) => self.stays(&pod),
            (InFlight::Again(eviction), Some(verdict)) => self.note_again(&eviction, verdict),
            (InFlight::Again(_), None) => {}
        }
    }

    /// The pod does not leave, as far as is known.
    fn stays(&self, pod: &PodId) {
        self.tools.view.update(|index| index.pod_eviction_forgotten(pod));
    }

    /// Tells what went since this was called last.
    fn tell(&mut self) {
        let evicted = std::mem::take(&mut self.evicted);
        if !evicted.is_empty() {
            info!(pods = evicted.len(), "evicted pods");
            self.tools.announcer.announce_reclaimed(&evicted);
        }
        for (queue, mut pods) in std::mem::take(&mut self.untold) {
            pods.sort_unstable();
            self.tools.announcer.announce(Notice::ForceDeleted { queue, pods });
        }
    }

    /// What is asked for next in this turn, and when. None if nothing more is.
    fn next_due<'a>(&mut self, turn: &mut Turn<'a>) -> Option<(Instant, Wanted<'a>)> {
        let began = turn.began;
        while let Some(mut first) = self.first_with_a_slot(&mut turn.left) {
            let (_, wanted) = *first.get().front()?;
            let is_late = turn.asked > 0 && began.elapsed() >= CYCLE;
            if is_late || turn.asked >= self.per_cycle || self.rate.next(began).duration_since(began) >= CYCLE
            {
                self.unfinished = Some(began);
                return None;
            }
            first.get_mut().pop_front();
            if first.get().is_empty() {
                first.remove();
            }
            if let Wanted::Victim(eviction) = wanted {
                let at = self.per_queue.take(&eviction.queue, began);
                if at > began {
                    self.unfinished = self.unfinished.into_iter().chain([at]).min();
                    turn.postponed = turn.postponed.saturating_add(1);
                    continue;
                }
            }
            turn.asked = turn.asked.saturating_add(1);
            return Some((self.rate.reserve(began), wanted));
        }
        None
    }

    /// The namespace with the first of what is left, of those that have a free slot.
    fn first_with_a_slot<'t, 'a>(
        &self,
        left: &'t mut Queued<'a>,
    ) -> Option<OccupiedEntry<'t, &'a Namespace, VecDeque<(usize, Wanted<'a>)>>> {
        let open = left.iter().filter(|(namespace, _)| self.flights.count_in(namespace) < self.parallel);
        let (&first, _) = open.min_by_key(|(_, queued)| queued.front().map(|(place, _)| *place))?;
        match left.entry(first) {
            Entry::Occupied(entry) => Some(entry),
            Entry::Vacant(_) => None,
        }
    }

    fn note(
        &mut self,
        eviction: &Eviction,
        queue: Option<&QueueUid>,
        started: Option<Timestamp>,
        verdict: Verdict,
    ) {
        let pod = &eviction.pod;
        let named = format!("{}/{}", pod.namespace, pod.name);
        self.tools.decisions.answered(pod, &verdict.to_string());
        match verdict {
            Verdict::Evicted => {
                debug!(pod = named, queue = %eviction.queue, reason = %eviction.reason, "evicted");
                if let Some(queue) = queue {
                    self.tools.reclaims.record(queue, eviction, self.tools.clock.now());
                }
                self.evicted.push(eviction.clone());
                self.backoff.granted(pod);
                let gone_by = deadline(&self.tools.clock, eviction.grace_seconds);
                self.tools.view.update(|index| index.pod_evicted(pod, gone_by));
                let ran = self.seconds_since(started);
                self.tools.metrics.queues.evicted(&eviction.queue, eviction.reason, ran);
                self.tell_pod(eviction);
            }
            Verdict::Gone => {
                debug!(pod = named, "to be evicted, but gone already");
                self.backoff.granted(pod);
                self.assume_leaving(eviction);
            }
            Verdict::Refused(refusal, why) => {
                match refusal {
                    Refusal::Budget | Refusal::SeveralBudgets => {
                        debug!(pod = named, why, "the eviction is blocked");
                    }
                    Refusal::Forbidden | Refusal::ServerError | Refusal::Other => {
                        warn!(pod = named, error = why, "the eviction was refused");
                    }
                }
                self.tools.metrics.queues.refused_eviction(&eviction.queue, refusal.name());
                self.stays(pod);
                let now = Instant::now();
                // An admission webhook that restarts, rights that are being changed: no other pod is evicted instead before
                // the API server has refused twice.
                if !refusal.is_by_budget() && self.backoff.doubts(pod, now) {
                    return;
                }
                let until = self.backoff.refused(eviction, why, now);
                let until = after(&self.tools.clock, until.duration_since(now));
                // The next plan goes without this pod, and is made at once.
                self.tools.view.update(|index| index.eviction_refused(pod, until));
            }
            Verdict::Busy(why) => {
                debug!(pod = named, why, "the API server has no time for the eviction");
                self.tools.metrics.queues.refused_eviction(&eviction.queue, OVERLOADED);
                self.stays(pod);
                self.backoff.busy(pod, Instant::now());
            }
            Verdict::Unknown(why) => {
                warn!(pod = named, error = why, "whether the pod was evicted is not known");
                self.assume_leaving(eviction);
            }
        }
    }

    fn tell_pod(&self, eviction: &Eviction) {
        self.tools.announcer.announce(Notice::Reclaimed(Box::new(Reclaimed::of_pod(eviction))));
    }

    /// What became of a terminating pod that was to get less grace.
    fn note_again(&mut self, eviction: &Eviction, verdict: Verdict) {
        let Eviction { pod, queue, grace_seconds, .. } = eviction;
        let named = format!("{}/{}", pod.namespace, pod.name);
        self.again.asked(pod, Instant::now());
        let count = |reason| self.tools.metrics.queues.refused_eviction(queue, reason);
        match verdict {
            Verdict::Evicted => {
                let is_news = self.again.granted(pod);
                if is_news {
                    info!(pod = named, grace_seconds, reason = %eviction.reason, "evicted a terminating pod again");
                }
                if eviction.reason == Reason::ForceDeleted {
                    self.tools.metrics.evictions.forced.inc();
                    if is_news {
                        self.untold.entry(queue.clone()).or_default().push(pod.name.clone());
                    }
                } else if is_news {
                    self.tell_pod(eviction);
                }
            }
            Verdict::Gone => debug!(pod = named, "to be evicted again, but gone already"),
            Verdict::Refused(refusal, why) => {
                count(refusal.name());
                warn!(pod = named, error = why, "the terminating pod was not evicted again");
            }
            Verdict::Busy(why) => {
                count(OVERLOADED);
                debug!(pod = named, why, "the API server has no time to evict the terminating pod again");
            }
            Verdict::Unknown(why) => {
                warn!(pod = named, error = why, "whether the terminating pod was evicted again is not known");
            }
        }
    }

    /// For how long a pod has run that started then.
    fn seconds_since(&self, started: Option<Timestamp>) -> u64 {
        let ran = started.map_or(0, |started| self.tools.clock.engine_now().millis_since(started));
        u64::try_from(ran).unwrap_or_default() / 1000
    }

    fn assume_leaving(&mut self, eviction: &Eviction) {
        let gone_by = deadline(&self.tools.clock, eviction.grace_seconds);
        self.tools.view.update(|index| index.pod_evicted(&eviction.pod, gone_by));
        let now = Instant::now();
        self.assumed.push((now.checked_add(ASSUMED).unwrap_or(now), eviction.pod.clone()));
    }
}

/// Asks for one eviction at `at`. None if it may not be asked for any more.
async fn evict_one(tools: Tools, at: Instant, pod: PodId, grace_seconds: Option<u32>) -> Option<Verdict> {
    tokio::select! {
        biased;
        () = tools.stop.cancelled() => return None,
        () = tokio::time::sleep_until(at) => {}
    }
    if !tools.may_write() {
        return None;
    }
    let api: Api<Pod> = Api::namespaced(tools.client.clone(), pod.namespace.as_str());
    let (parameters, body) = (PostParams::default(), eviction(&pod, grace_seconds));
    let call = api.create_subresource::<_, Status>("eviction", pod.name.as_str(), &parameters, &body);
    let answer = ask(CALL, call).await;
    tools.metrics.wrote(KIND, answer.result());
    Some(verdict(answer))
}

/// When a pod that was evicted just now has to be gone.
fn deadline(clock: &Clock, grace_seconds: Option<u32>) -> Timestamp {
    after(clock, Duration::from_secs(grace_seconds.map_or(GRACE_SECONDS, u64::from)))
}

/// The time `wait` from now.
fn after(clock: &Clock, wait: Duration) -> Timestamp {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(clock.engine_now().millis().saturating_add(wait))
}
