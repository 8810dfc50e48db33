//! Operations that were begun and have not ended.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::call::call;
use super::{Class, Key, Lane, Object, Operation, Outcome, Purpose};
use crate::context::Context;

/// What tells one operation from another: what it is on, with the life of the object.
pub(super) type Id = (Key, Object, Option<Arc<str>>);

/// Operations under way. They end as they do whether they are waited for or not; dropping this ends them where they are.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    calls: JoinSet<(Id, Outcome)>,
    purposes: BTreeMap<Id, Purpose>,
    /// How many there are; more than none in every lane that is named.
    counts: BTreeMap<Lane, usize>,
}

/// An operation that has ended: what it was for, which one it was, and what became of it.
pub(super) type Ended = (Purpose, Id, Outcome);

impl UnderWay {
    /// Sends `operation` at this time.
    pub(super) fn begin(&mut self, context: &Context, operation: Operation, at: Instant) {
        let id = id(&operation);
        if self.purposes.insert(id.clone(), operation.purpose.clone()).is_none() {
            let count = self.counts.entry(id.0.lane()).or_default();
            *count = count.saturating_add(1);
        }
        let call = call(context.clone(), at, operation);
        self.calls.spawn(async move { (id, call.await) });
    }

    /// How many operations of a lane are under way.
    pub(super) fn count(&self, lane: &Lane) -> usize {
        self.counts.get(lane).copied().unwrap_or_default()
    }

    /// Whether operations of `class` are under way.
    pub(super) fn has(&self, class: Class) -> bool {
        self.counts.keys().any(|(of, _)| *of == class)
    }

    pub(super) fn contains(&self, operation: &Operation) -> bool {
        self.purposes.contains_key(&id(operation))
    }

    /// What is under way.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Purpose> {
        self.purposes.values()
    }

    /// Waits until an operation has ended; none if none is under way. Nothing is lost if the wait is given up.
    pub(super) async fn completed(&mut self) -> Option<Ended> {
        let joined = self.calls.join_next().await?;
        self.take(joined)
    }

    /// An operation that has ended already.
    pub(super) fn completed_already(&mut self) -> Option<Ended> {
        let joined = self.calls.try_join_next()?;
        self.take(joined)
    }

    fn take(&mut self, joined: Result<(Id, Outcome), JoinError>) -> Option<Ended> {
        // Nothing is aborted while it is waited for, so it panicked: as if it had been called here.
        let (id, outcome) = joined.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        let purpose = self.purposes.remove(&id)?;
        let lane = id.0.lane();
        match self.counts.get_mut(&lane) {
            Some(count) if *count > 1 => *count = count.saturating_sub(1),
            _ => {
                self.counts.remove(&lane);
            }
        }
        Some((purpose, id, outcome))
    }
}

fn id(operation: &Operation) -> Id {
    let uid = operation.life.as_ref().map(|life| Arc::clone(&life.uid));
    (operation.purpose.key(), operation.object.clone(), uid)
}
