//! Carrying out operations: the one way in which the operator writes to the cluster.
//!
//! Every operation of every kind has a timeout, counts in the same metric and is sent only while this replica leads. Its
//! answer is in the view before any other part gets it. An operation that failed waits by one back-off policy.
//!
//! Operations end by themselves: an eviction that hangs stays under way in later cycles.

mod backoff;
mod call;
mod kind;
mod operation;
mod outcome;
mod pace;
mod rate;
mod told;
mod under_way;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

pub(crate) use backoff::{Backoff, Schedule};
pub(crate) use kind::{Kind, decode};
pub(crate) use operation::{
    Class, Key, Lane, Life, Object, Operation, Prepared, Purpose, Request, Requeue, shortens_grace,
};
pub(crate) use outcome::Outcome;
pub(crate) use pace::Pace;
pub(crate) use rate::Rate;

use crate::context::Context;
use under_way::{Ended, UnderWay};

/// How long one call of [`Executor::carry_out`] may last. Then the next cycle comes: it gives room that became free to the queues
/// that wait for it, and goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnLength {
    /// For how long operations of a class that is bounded so are begun.
    begins: Duration,
    /// For how long answers of a class that may stay under way are waited for. While answers come, the wait paces the requests by
    /// what the API server can do. A call that hangs holds up no other share for longer.
    waits: Duration,
}

impl TurnLength {
    /// Every cycle that finds free room raises a quota, which costs the API server more the more often it happens.
    pub(crate) const USUAL: Self = Self { begins: Duration::from_millis(250), waits: Duration::from_secs(1) };

    /// Evictions free room for gated pods: no quota is raised for these.
    pub(crate) const FOR_GATED: Self =
        Self { begins: Duration::from_millis(50), waits: Duration::from_millis(50) };
}

/// An operation that has ended.
#[derive(Debug)]
pub(crate) struct Completed {
    /// What it was for.
    pub(crate) purpose: Purpose,
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// Why it was not carried out; empty if it was.
    pub(crate) why: String,
    /// Whether the API server refuses it for the second time in a row, or for another reason than before. One refusal is what a
    /// race looks like.
    pub(crate) is_newly_refused: bool,
}

/// Carries out operations.
pub(crate) struct Executor {
    context: Context,
    pace: Pace,
    /// What failed, and until when it is put off.
    pub(crate) retries: Backoff<Key>,
    under_way: UnderWay,
    /// When more may be begun than the last cycle had time for.
    unfinished: BTreeMap<Class, Instant>,
    /// The classes of which operations wait only for the answers to others.
    crowded: BTreeSet<Class>,
}

/// What is to be begun, by lane, each with its place in the order of all.
type Lanes = BTreeMap<Lane, VecDeque<(usize, Operation)>>;

/// How many operations are left to a later cycle.
pub(crate) type Postponed = BTreeMap<Class, usize>;

/// What one call of [`Executor::carry_out`] has left to do.
struct Turn {
    began: Instant,
    length: TurnLength,
    lanes: Lanes,
    begun: BTreeMap<Class, usize>,
    postponed: Postponed,
}

impl Executor {
    /// Nothing is under way.
    pub(crate) fn new(context: Context, pace: Pace) -> Self {
        Self {
            context,
            pace,
            retries: Backoff::new(Schedule::WRITES),
            under_way: UnderWay::default(),
            unfinished: BTreeMap::new(),
            crowded: BTreeSet::new(),
        }
    }

    /// A cycle begins in which operations of `class` are wanted on these keys alone: what is remembered of others is forgotten.
    pub(crate) fn wants(&mut self, class: Class, is_wanted: impl Fn(&Key) -> bool) {
        self.retries.retain(|key| key.class != class || is_wanted(key));
        self.unfinished.remove(&class);
        self.crowded.remove(&class);
    }

    /// When operations that are put off are due again.
    pub(crate) fn next_retry(&self) -> Option<Instant> {
        self.retries.next().into_iter().chain(self.unfinished.values().copied()).min()
    }

    /// Whether operations that were left over wait only for the answers to others.
    pub(crate) fn is_crowded(&self) -> bool {
        !self.crowded.is_empty()
    }

    /// What is under way.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Purpose> {
        self.under_way.iter()
    }

    /// Waits until an operation has ended; none if none is under way. Nothing is lost if the wait is given up.
    pub(crate) async fn completed(&mut self) -> Option<Completed> {
        let ended = self.under_way.completed().await?;
        Some(self.note(ended))
    }

    /// An operation that has ended already.
    pub(crate) fn completed_already(&mut self) -> Option<Completed> {
        let ended = self.under_way.completed_already()?;
        Some(self.note(ended))
    }

    /// Begins those of `operations` that are due, in their order, and tells `settle` what became of them and of what was
    /// under way before. Returns when all have ended or, of a class that may stay under way, were waited for long enough.
    ///
    /// Operations that come second are begun when all others have ended. Returns how many are left for a later cycle.
    pub(crate) async fn carry_out(
        &mut self,
        operations: Vec<Operation>,
        length: TurnLength,
        mut settle: impl FnMut(Completed),
    ) -> Postponed {
        let (second, first): (Vec<_>, Vec<_>) =
            operations.into_iter().partition(|operation| operation.purpose.comes_second());
        let postponed = self.carry_out_phase(first, length, &mut settle).await;
        if !second.is_empty() {
            self.carry_out_phase(second, length, &mut settle).await;
        }
        postponed
    }

    async fn carry_out_phase(
        &mut self,
        operations: Vec<Operation>,
        length: TurnLength,
        settle: &mut impl FnMut(Completed),
    ) -> Postponed {
        let began = Instant::now();
        let lanes = self.lanes(operations, began);
        let mut turn = Turn { began, length, lanes, begun: BTreeMap::new(), postponed: Postponed::new() };
        self.pace.forget_rested(began);
        let over = began.checked_add(length.waits).unwrap_or(began);
        loop {
            while let Some((at, operation)) = self.next_due(&mut turn) {
                self.under_way.begin(&self.context, operation, at);
            }
            let (stays, ends) = self.awaited(&turn);
            // Calls that have to end in this turn are waited for however late it is: each has a timeout.
            let is_bounded = stays && Instant::now() < over;
            if !ends && !is_bounded {
                break;
            }
            tokio::select! {
                biased;
                ended = self.under_way.completed() => match ended {
                    Some(ended) => settle(self.note(ended)),
                    None => break,
                },
                () = tokio::time::sleep_until(over), if is_bounded => {}
            }
        }
        for ((class, _), left) in std::mem::take(&mut turn.lanes) {
            self.crowded.insert(class);
            turn.postpone(class, left.len());
        }
        turn.postponed
    }

    /// Whether operations of this turn are under way: of a class that may stay so, and of others.
    fn awaited(&self, turn: &Turn) -> (bool, bool) {
        let begun = turn.begun.keys().filter(|class| self.under_way.has(**class));
        begun.fold((false, false), |(stays, ends), class| {
            let may_stay = class.may_stay_under_way();
            (stays || may_stay, ends || !may_stay)
        })
    }

    /// Those of `operations` that are neither put off nor under way, by lane.
    fn lanes(&self, operations: Vec<Operation>, now: Instant) -> Lanes {
        let mut lanes = Lanes::new();
        for (place, operation) in operations.into_iter().enumerate() {
            let key = operation.purpose.key();
            if !self.retries.is_waiting(&key, now) && !self.under_way.contains(&operation) {
                lanes.entry(key.lane()).or_default().push_back((place, operation));
            }
        }
        lanes
    }

    /// The next operation to begin in this turn, and when. None if no other can be begun now.
    fn next_due(&mut self, turn: &mut Turn) -> Option<(Instant, Operation)> {
        loop {
            let open = turn
                .lanes
                .iter()
                .filter(|(lane, left)| self.under_way.count(lane) < self.pace.parallel(lane.0, left.len()));
            let lane = open.min_by_key(|(_, left)| left.front().map(|(place, _)| *place))?.0.clone();
            let class = lane.0;
            let begun = turn.begun.get(&class).copied().unwrap_or_default();
            if self.is_over(class, turn, begun) {
                let at = self.pace.goes_on(class, turn.length.begins, turn.began);
                self.unfinished.insert(class, at);
                turn.leave(class);
                continue;
            }
            let Some(left) = turn.lanes.get_mut(&lane) else { continue };
            let operation = left.pop_front();
            if left.is_empty() {
                turn.lanes.remove(&lane);
            }
            let Some((_, operation)) = operation else { continue };
            match self.pace.reserve(&operation, turn.began) {
                Ok(at) => {
                    turn.begun.insert(class, begun.saturating_add(1));
                    return Some((at, operation));
                }
                Err(later) => {
                    let earliest = self.unfinished.get(&class).map_or(later, |at| later.min(*at));
                    self.unfinished.insert(class, earliest);
                    turn.postpone(class, 1);
                }
            }
        }
    }

    /// Whether no more operations of `class` are begun in a turn that has begun so many.
    fn is_over(&self, class: Class, turn: &Turn, count: usize) -> bool {
        if !class.is_bounded_in_time() {
            return false;
        }
        let begins = turn.length.begins;
        let is_late = count > 0 && turn.began.elapsed() >= begins;
        is_late || self.pace.is_used_up(class, count, begins, turn.began)
    }

    fn note(&mut self, (purpose, (key, object, _), outcome): Ended) -> Completed {
        self.context.beat.now();
        let why = outcome.why(purpose.feature());
        told::tell(&purpose, &object, &outcome, &why);
        let is_newly_refused = match outcome {
            Outcome::Done => {
                self.retries.clear(&key);
                false
            }
            Outcome::Skipped => false,
            _ if !key.class.is_retried() => false,
            _ => {
                let is_refused = matches!(outcome, Outcome::Refused(_));
                self.retries.failed(&key, why.clone(), is_refused, Instant::now())
            }
        };
        Completed { purpose, outcome, why, is_newly_refused }
    }
}

impl Turn {
    /// So many more operations of `class` are left for a later cycle.
    fn postpone(&mut self, class: Class, count: usize) {
        let postponed = self.postponed.entry(class).or_default();
        *postponed = postponed.saturating_add(count);
    }

    /// No more operations of `class` are begun in this turn.
    fn leave(&mut self, class: Class) {
        let (left, others) =
            std::mem::take(&mut self.lanes).into_iter().partition(|((other, _), _)| *other == class);
        self.lanes = others;
        let left: Lanes = left;
        self.postpone(class, left.values().map(VecDeque::len).sum());
    }
}
