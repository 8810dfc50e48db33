//! The task that writes events.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use k8s_openapi::api::events::v1::Event;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::Notice;
use super::event::event;
use super::reclaimed::RECLAIMED;
use crate::answer::{Failure, ask, result, said};
use crate::clock::Clock;
use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::view::View;

/// How long one event may take.
const CALL: Duration = Duration::from_secs(5);

/// How many events are written at the same time: few, so that telling does not slow down doing.
const PARALLEL: usize = 2;

/// Events of evictions are written when no pod has gone for so long: while a share moves, the API server is busy with that …
const LULL: Duration = Duration::from_millis(500);

/// … and none later than this, where pods go all the time.
const LATEST: Duration = Duration::from_secs(2);

/// How many events wait. More notices are left where they are.
const MOST: usize = 1024;

/// What metrics call an event.
const KIND: &str = "event";

/// Writes events. One that fails is counted and not repeated: nothing depends on it.
pub struct Publisher {
    /// The connection.
    pub client: Client,
    /// Where Queues' ids are found.
    pub view: View,
    /// The reporting instance.
    pub identity: Identity,
    /// When.
    pub clock: Clock,
    /// Where events are counted.
    pub metrics: Metrics,
}

impl Publisher {
    /// Writes what comes, until no recorder is left and all is written.
    pub async fn run(self, mut happenings: mpsc::Receiver<Notice>) {
        let mut backlog = Backlog::default();
        let mut writing = FuturesUnordered::new();
        let mut number = 0_u64;
        loop {
            tokio::select! {
                biased;
                happening = happenings.recv(), if !backlog.is_full() => match happening {
                    Some(happening) => {
                        number = number.wrapping_add(1);
                        let is_of_eviction = happening.reason == RECLAIMED;
                        let event = self.event(happening, number);
                        if is_of_eviction {
                            backlog.push_of_eviction(event, Instant::now());
                        } else {
                            backlog.others.push_back(event);
                        }
                    }
                    None => backlog.is_last = true,
                },
                Some(()) = writing.next() => {}
                () = sleep_until(backlog.due()), if !backlog.is_empty() && writing.len() < PARALLEL => {
                    writing.extend(backlog.pop().map(|event| self.publish(event)));
                }
                else => break,
            }
        }
    }

    fn event(&self, happening: Notice, number: u64) -> Event {
        let uid =
            |queue: &_| self.view.read(|index| index.observed_queue(queue).map(|queue| queue.uid.clone()));
        event(happening, uid, &self.identity, self.clock.now(), number)
    }

    async fn publish(&self, event: Event) {
        let namespace = event.metadata.namespace.as_deref().unwrap_or("default");
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let answer = ask(CALL, api.create(&PostParams::default(), &event)).await;
        self.metrics.wrote(KIND, result(&answer));
        match answer {
            Ok(_) => {}
            Err(Failure::Refused(status)) => debug!(error = said(&status), "the event was not written"),
            Err(Failure::Unknown(lost)) => debug!(error = %lost, "the event was perhaps not written"),
        }
    }
}

/// Events that are to be written.
#[derive(Default)]
struct Backlog {
    /// Those of evictions, each with when it came.
    evictions: VecDeque<(Instant, Event)>,
    /// All others, which wait for nothing.
    others: VecDeque<Event>,
    /// When the last one of an eviction came.
    last: Option<Instant>,
    /// Whether no more come, so that there is nothing to wait for.
    is_last: bool,
}

impl Backlog {
    fn is_full(&self) -> bool {
        self.is_last || self.evictions.len().saturating_add(self.others.len()) >= MOST
    }

    fn is_empty(&self) -> bool {
        self.evictions.is_empty() && self.others.is_empty()
    }

    fn push_of_eviction(&mut self, event: Event, now: Instant) {
        self.evictions.push_back((now, event));
        self.last = Some(now);
    }

    /// When the first one is to be written.
    fn due(&self) -> Instant {
        let waits = self.others.is_empty() && !self.is_last;
        let lull = self.last.and_then(|last| last.checked_add(LULL)).filter(|_| waits);
        let latest = self.evictions.front().and_then(|(came, _)| came.checked_add(LATEST));
        lull.map_or_else(Instant::now, |lull| latest.map_or(lull, |latest| lull.min(latest)))
    }

    fn pop(&mut self) -> Option<Event> {
        self.others.pop_front().or_else(|| self.evictions.pop_front().map(|(_, event)| event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn events_of_evictions_wait_until_no_pod_goes_and_no_longer_than_two_seconds() {
        let start = Instant::now();
        let mut backlog = Backlog::default();
        let due = [0, 400, 800, 1_200, 1_600, 2_000].map(|at| {
            backlog.push_of_eviction(Event::default(), start + Duration::from_millis(at));
            backlog.due().duration_since(start).as_millis()
        });
        assert_eq!(due, [500, 900, 1_300, 1_700, 2_000, 2_000]);
        backlog.others.push_back(Event { note: Some("other".to_owned()), ..Event::default() });
        assert_eq!(backlog.due(), start, "others wait for nothing");
        assert_eq!(backlog.pop().and_then(|event| event.note).as_deref(), Some("other"));
        assert_eq!(backlog.due(), start + LATEST);
        backlog.is_last = true;
        assert_eq!(backlog.due(), start, "nothing more comes");
    }
}
