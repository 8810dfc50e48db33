//! Owners that yield to pods of a higher priority in their queue, and get their size back.
//!
//! ```text
//!  marks set and lifted ─► seen ─► size written, former size beside it ─► seen ─► pods go by their owner's controller
//! ```
//!
//! The size is written when every mark has been seen: a controller that goes by the size has seen the marks, too. What is
//! remembered of an owner stands on the owner; here only what saves requests.

mod mark;
mod resize;

use std::collections::BTreeMap;
use std::time::Duration;

use futures::{StreamExt, stream};
use quotient_engine::names::OwnerUid;
use quotient_engine::plan::{Plan, PodId, Scaling};
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Tools;
use super::retry::Retries;
use crate::events::Notice;
use mark::Mark;

/// How many calls are made at the same time.
const PARALLEL: usize = 8;

/// The most pods that one cycle marks, and the most sizes that it writes; the rest waits for the next.
const MOST: usize = 128;

/// How long a pod is not marked again while that is not seen yet.
const UNSEEN: Duration = Duration::from_secs(2);

/// How long one call may take.
const CALL: Duration = Duration::from_secs(5);

/// What became of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// It was carried out.
    Written,
    /// It was not tried: this replica may not write any more.
    Skipped,
    /// The object is another one, or another size, than was decided on. The watch will tell.
    Stale(String),
    /// The API server decided against it.
    Refused(String),
    /// It was carried out or not: the answer was lost.
    Unknown(String),
}

/// One call to make.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Mark(Mark, &'a PodId),
    Resize,
}

/// Scales owners.
pub(super) struct Scaler {
    tools: Tools,
    /// By the object that says the size.
    retries: Retries<OwnerUid>,
    /// When which marks were set or lifted that have not been seen.
    unseen: BTreeMap<(PodId, Mark), Instant>,
    /// When more of the last plan's scalings may be carried out.
    next: Option<Instant>,
}

impl Scaler {
    pub(super) fn new(tools: Tools) -> Self {
        Self { tools, retries: Retries::new(), unseen: BTreeMap::new(), next: None }
    }

    /// When something that was put off is to be done.
    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.next
    }

    /// Carries out what `plan` says of sizes. Returns when every call was answered or timed out.
    pub(super) async fn scale(&mut self, plan: &Plan) {
        self.next = None;
        self.retries.retain(|uid| plan.scalings.iter().any(|scaling| scaling.setter.uid == *uid));
        let steps = self.due(plan, Instant::now());
        let tools = &self.tools;
        let calls: Vec<_> = steps
            .into_iter()
            .map(|(scaling, step)| async move { (scaling, step, carry_out(tools, scaling, step).await) })
            .collect();
        let mut calls = stream::iter(calls).buffer_unordered(PARALLEL);
        let mut failed: Vec<(&Scaling, Step<'_>, String, bool)> = Vec::new();
        while let Some((scaling, step, outcome)) = calls.next().await {
            tools.beat.now();
            match (outcome, step) {
                (Outcome::Written, Step::Resize) => {
                    self.retries.clear(&scaling.setter.uid);
                    tell(tools, scaling);
                }
                (Outcome::Written | Outcome::Skipped, _) => {}
                (Outcome::Stale(why) | Outcome::Unknown(why), _) => failed.push((scaling, step, why, false)),
                (Outcome::Refused(why), _) => failed.push((scaling, step, why, true)),
            }
        }
        drop(calls);
        for (scaling, step, why, refused) in failed {
            self.note_failed(scaling, step, why, refused);
        }
    }

    /// What this cycle does, each with the scaling that it is part of.
    fn due<'a>(&mut self, plan: &'a Plan, now: Instant) -> Vec<(&'a Scaling, Step<'a>)> {
        self.unseen.retain(|_, until| now < *until);
        let mut due = Vec::new();
        let mut postponed: usize = 0;
        for scaling in &plan.scalings {
            if self.retries.is_waiting(&scaling.setter.uid, now) {
                postponed = postponed.saturating_add(1);
                self.wake_at(self.retries.until(&scaling.setter.uid));
                continue;
            }
            let marks = scaling.marks.iter().map(|pod| (Mark::Set, pod));
            let marks: Vec<_> = marks.chain(scaling.lifts.iter().map(|pod| (Mark::Lifted, pod))).collect();
            let steps: Vec<Step<'a>> = if marks.is_empty() {
                vec![Step::Resize]
            } else {
                marks.into_iter().filter_map(|(mark, pod)| self.not_yet(mark, pod)).collect()
            };
            let room = MOST.saturating_sub(due.len());
            if steps.len() > room {
                postponed = postponed.saturating_add(1);
                self.wake_at(Some(now));
            }
            for step in steps.into_iter().take(room) {
                if let Step::Mark(mark, pod) = step {
                    let until = now.checked_add(UNSEEN).unwrap_or(now);
                    self.unseen.insert((pod.clone(), mark), until);
                }
                due.push((scaling, step));
            }
        }
        self.tools.metrics.scalings.postponed.set(i64::try_from(postponed).unwrap_or(i64::MAX));
        due
    }

    /// The step that changes the mark of `pod`, unless that was done a moment ago.
    fn not_yet<'a>(&mut self, mark: Mark, pod: &'a PodId) -> Option<Step<'a>> {
        let until = self.unseen.get(&(pod.clone(), mark)).copied();
        self.wake_at(until);
        until.is_none().then_some(Step::Mark(mark, pod))
    }

    fn note_failed(&mut self, scaling: &Scaling, step: Step<'_>, why: String, refused: bool) {
        let setter = format!("{} {}/{}", scaling.setter.kind.name(), scaling.namespace, scaling.setter.name);
        match step {
            Step::Mark(mark, pod) => {
                self.unseen.remove(&(pod.clone(), mark));
                warn!(pod = %pod.name, setter, error = why, "a pod's deletion cost was not changed");
            }
            Step::Resize if refused => warn!(setter, error = why, "the size was not changed"),
            Step::Resize => debug!(setter, why, "the size was not changed, or perhaps not"),
        }
        let now = Instant::now();
        self.retries.failed(&scaling.setter.uid, why, refused, now);
        self.wake_at(self.retries.until(&scaling.setter.uid));
    }

    fn wake_at(&mut self, at: Option<Instant>) {
        self.next = [self.next, at].into_iter().flatten().min();
    }
}

async fn carry_out(tools: &Tools, scaling: &Scaling, step: Step<'_>) -> Outcome {
    match step {
        Step::Mark(mark, pod) => mark.put(tools, pod).await,
        Step::Resize => resize::resize(tools, scaling).await,
    }
}

fn tell(tools: &Tools, scaling: &Scaling) {
    let setter = format!("{} {}/{}", scaling.setter.kind.name(), scaling.namespace, scaling.setter.name);
    info!(setter, from = scaling.from, to = scaling.to, reason = %scaling.reason, "changed the size of an owner");
    tools.metrics.scalings.scaled(scaling);
    tools.announcer.announce(Notice::scaled(scaling));
}
