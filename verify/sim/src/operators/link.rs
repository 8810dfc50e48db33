//! The link of one operator: what is known of it over all its lives.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::clock::SimClock;
use crate::faults::{Event, Fault, OperatorOptions, WatchFault, WatchMatch, WatchWhat, What};
use crate::objects::{Kind, Name};
use crate::random::Random;
use crate::server::{Call, Change};

/// One operator's link to the API server.
#[derive(Debug)]
pub struct OperatorLink {
    name: Name,
    clock: SimClock,
    pub(super) options: OperatorOptions,
    state: Mutex<State>,
    /// Rings when the life that runs is to end.
    crashed: Notify,
}

#[derive(Debug)]
struct State {
    /// The life that runs, or ran last.
    life: u32,
    alive: bool,
    /// How long nothing runs after the crash that is under way.
    down: Duration,
    faults: Vec<Fault>,
    watch_faults: Vec<WatchFault>,
    /// What watches are to suffer now.
    watches: Vec<(Kind, WatchWhat)>,
    /// Requests that may write something, the Lease's apart.
    writes: u64,
    paused_until: Duration,
    /// How far its clock is off, in milliseconds.
    skew: i64,
    /// Whether it panics when it reads its clock next.
    panics: bool,
    random: Random,
    /// The version that its view stands still at, and until when.
    view: Option<(u64, Duration)>,
    stop: CancellationToken,
    exits: Vec<Exit>,
}

impl OperatorLink {
    pub(super) fn new(
        number: usize,
        clock: SimClock,
        version: u64,
        seed: u64,
        options: OperatorOptions,
    ) -> Self {
        let name: Name = format!("quotient-{number}").into();
        let view = options.view.map(|view| (version.saturating_sub(view.behind), view.until));
        let state = State {
            life: 0,
            alive: false,
            down: Duration::ZERO,
            faults: options.faults.clone(),
            watch_faults: options.watch_faults.clone(),
            watches: Vec::new(),
            writes: 0,
            paused_until: Duration::ZERO,
            skew: 0,
            panics: false,
            random: Random::of(seed, &name),
            view,
            stop: CancellationToken::new(),
            exits: Vec::new(),
        };
        Self { name, clock, options, state: Mutex::new(state), crashed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the trace calls it.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// How its lives ended that did.
    pub fn exits(&self) -> Vec<Exit> {
        self.state().exits.clone()
    }

    /// How many faults of requests and of watches have not hit anything yet, counted by how often they still may.
    pub fn faults_left(&self) -> u32 {
        let state = self.state();
        let requests = state.faults.iter().map(|fault| fault.times);
        requests.chain(state.watch_faults.iter().map(|fault| fault.times)).sum()
    }

    // ===== its lives =====

    /// A life begins: its number, and the token that tells it to end.
    pub(super) fn begin(&self) -> (u32, CancellationToken) {
        let mut state = self.state();
        state.alive = true;
        (state.life, state.stop.clone())
    }

    /// The life has ended.
    pub(super) fn end(&self, why: String) {
        let mut state = self.state();
        let exit = Exit { time: self.clock.elapsed(), life: state.life, why };
        state.exits.push(exit);
        state.alive = false;
        state.life += 1;
    }

    /// Ends the life that runs, at once.
    pub(super) fn crash(&self, down: Duration) {
        let mut state = self.state();
        if state.alive {
            state.alive = false;
            state.down = down;
            self.crashed.notify_one();
        }
    }

    /// Waits for the crash; says how long nothing is to run then.
    pub(super) async fn until_crash(&self) -> Duration {
        self.crashed.notified().await;
        self.state().down
    }

    /// Tells it to end for good.
    pub(crate) fn stop(&self) {
        self.state().stop.cancel();
    }

    pub(super) fn is_alive(&self, life: u32) -> bool {
        let state = self.state();
        state.alive && state.life == life
    }

    // ===== its clock =====

    pub(crate) fn jump(&self, millis: i64) {
        self.state().skew += millis;
    }

    /// Has the operator panic when it reads its clock next.
    pub(crate) fn panic(&self) {
        self.state().panics = true;
    }

    pub(super) fn now(&self) -> jiff::Timestamp {
        let (skew, panics) = {
            let mut state = self.state();
            (state.skew, std::mem::take(&mut state.panics))
        };
        assert!(!panics, "a fault: the operator panics");
        let now = self.clock.now();
        now.checked_add(jiff::SignedDuration::from_millis(skew)).unwrap_or(now)
    }

    // ===== its connection =====

    /// Nothing passes for so long.
    pub(crate) fn pause(&self, length: Duration) {
        let mut state = self.state();
        state.paused_until = state.paused_until.max(self.clock.elapsed() + length);
    }

    /// Until when nothing passes, if that is still to come.
    pub(super) fn paused_until(&self) -> Option<Duration> {
        Some(self.state().paused_until).filter(|until| *until > self.clock.elapsed())
    }

    /// How long the next message takes.
    pub(super) fn lag(&self) -> Duration {
        self.state().random.lag(self.options.lag)
    }

    /// A source of chance for one watch.
    pub(super) fn random(&self) -> Random {
        Random::new(self.state().random.next())
    }

    /// The version that lists and watches stand still at, and until when.
    pub(super) fn view(&self) -> Option<(u64, Duration)> {
        let now = self.clock.elapsed();
        self.state().view.filter(|(_, until)| now < *until)
    }

    /// What becomes of `call`, which reaches the server now: what is done beside it, and the fault that hits it.
    pub(super) fn faults_of(&self, call: &Call) -> (Vec<What>, Option<What>) {
        let mut state = self.state();
        let counts = call.verb.may_write() && call.key.kind != Kind::Lease;
        let write = counts.then_some(state.writes);
        state.writes += u64::from(counts);
        let time = self.clock.elapsed();
        let mut acts = Vec::new();
        let mut hit = None;
        for fault in &mut state.faults {
            let is_act = matches!(fault.what, What::First(_) | What::Then(_));
            if (hit.is_some() && !is_act) || !fault.hits(call, write, time) {
                continue;
            }
            if is_act {
                acts.push(fault.what.clone());
            } else {
                hit = Some(fault.what.clone());
            }
        }
        (acts, hit)
    }

    /// The watch of `kind` suffers `what`, now or with its next event.
    pub(crate) fn suffer(&self, kind: Kind, what: WatchWhat) {
        let mut state = self.state();
        match what {
            WatchWhat::Freeze | WatchWhat::Gone | WatchWhat::Reset => {
                state.watches.push((kind, what));
            }
            WatchWhat::Drop | WatchWhat::Twice | WatchWhat::Delay(_) => {
                let on = WatchMatch::of(kind);
                state.watch_faults.push(WatchFault::on(on, what));
            }
        }
    }

    /// What the watch of `kind` is to suffer now.
    pub(super) fn take_suffering(&self, kind: Kind) -> Option<WatchWhat> {
        let mut state = self.state();
        let at = state.watches.iter().position(|(other, _)| *other == kind)?;
        Some(state.watches.remove(at).1)
    }

    /// What becomes of an event on one of its watches.
    pub(super) fn fault_of_event(&self, change: &Change, event: Event) -> Option<WatchWhat> {
        let mut state = self.state();
        state.watch_faults.iter_mut().find_map(|fault| fault.hits(change, event).then_some(fault.what))
    }
}

/// How a life ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When.
    pub time: Duration,
    /// Which life, from 0.
    pub life: u32,
    /// `crashed`, `ended` after it was told to, or the error that the process would have ended with.
    pub why: String,
}

impl Exit {
    /// Whether the operator ended because one of its parts panicked: a bug, whatever the fault was.
    pub fn is_panic(&self) -> bool {
        self.why.contains("panic")
    }
}
