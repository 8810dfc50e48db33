//! What is remembered of sizes and marks, and what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quotient_engine::plan::PodId;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::context::Context;
use crate::events::Notice;
use crate::executor::{Completed, Executor, Operation, Outcome, Purpose};
use crate::metrics::show_count;

/// The most pods that one cycle marks, and the most sizes that it writes; the rest waits for the next.
const MOST: usize = 128;

/// How long a pod is not marked again while that is not seen yet.
const UNSEEN: Duration = Duration::from_secs(2);

/// Paces the scaling of workloads.
#[derive(Debug, Default)]
pub(super) struct Scalings {
    /// Until when which marks that were set or lifted need not have been seen.
    unseen: BTreeMap<(PodId, bool), Instant>,
}

impl Scalings {
    /// What of `wanted` this cycle does.
    pub(super) fn due(
        &mut self,
        wanted: Vec<Operation>,
        executor: &Executor,
        alarm: &mut Alarm,
        context: &Context,
    ) -> Vec<Operation> {
        let now = Instant::now();
        self.unseen.retain(|_, until| now < *until);
        let mut postponed = BTreeSet::new();
        let mut due = Vec::new();
        for operation in wanted {
            let key = operation.purpose.key();
            let mark = mark_of(&operation.purpose);
            let unseen = mark.as_ref().and_then(|mark| self.unseen.get(mark)).copied();
            let put_off = executor.retries.until(&key).filter(|until| now < *until);
            if let Some(until) = put_off.or_else(|| (due.len() >= MOST && unseen.is_none()).then_some(now)) {
                alarm.set(until);
                postponed.insert(key);
            } else if let Some(until) = unseen {
                alarm.set(until);
            } else {
                let until = now.checked_add(UNSEEN).unwrap_or(now);
                self.unseen.extend(mark.map(|mark| (mark, until)));
                due.push(operation);
            }
        }
        show_count(&context.metrics.writes.scalings_postponed, postponed.len());
        due
    }

    /// Takes note of what became of a mark or a size.
    pub(super) fn settle(&mut self, Completed { purpose, outcome, .. }: &Completed, context: &Context) {
        match (purpose, outcome) {
            (_, Outcome::Skipped) | (Purpose::Mark { .. }, Outcome::Done) => {}
            (Purpose::Mark { .. }, _) => {
                self.unseen.retain(|mark, _| Some(mark) != mark_of(purpose).as_ref());
            }
            (Purpose::Size(scaling), Outcome::Done) => {
                context.recorder.record(Notice::scaled(scaling));
            }
            _ => {}
        }
    }
}

fn mark_of(purpose: &Purpose) -> Option<(PodId, bool)> {
    match purpose {
        Purpose::Mark { pod, is_set, .. } => Some((pod.clone(), *is_set)),
        _ => None,
    }
}
