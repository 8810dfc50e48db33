//! The task that writes events.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use k8s_openapi::api::events::v1::Event;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::mpsc;
use tracing::debug;

use super::Notice;
use super::event::event;
use crate::answer::{Answer, ask, said};
use crate::clock::Clock;
use crate::identity::Identity;
use crate::metrics::Metrics;
use crate::view::View;

/// How long one event may take.
const CALL: Duration = Duration::from_secs(5);

/// How many events are written at the same time: few, so that telling does not slow down doing.
const PARALLEL: usize = 2;

/// What metrics call an event.
const KIND: &str = "event";

/// Writes events. One that fails is counted and not repeated: nothing depends on it.
pub struct Publisher {
    /// The connection.
    pub client: Client,
    /// Where Queues' ids are found.
    pub view: View,
    /// Who reports.
    pub identity: Identity,
    /// When.
    pub clock: Clock,
    /// Where events are counted.
    pub metrics: Metrics,
}

impl Publisher {
    /// Writes what comes, until no recorder is left and all is written.
    pub async fn run(self, mut happenings: mpsc::Receiver<Notice>) {
        let mut writing = FuturesUnordered::new();
        let mut number = 0_u64;
        loop {
            tokio::select! {
                biased;
                happening = happenings.recv(), if writing.len() < PARALLEL => match happening {
                    Some(happening) => {
                        number = number.wrapping_add(1);
                        writing.push(self.publish(self.event(&happening, number)));
                    }
                    None => break,
                },
                Some(()) = writing.next() => {}
            }
        }
        while writing.next().await.is_some() {}
    }

    fn event(&self, happening: &Notice, number: u64) -> Event {
        let uid =
            |queue: &_| self.view.read(|index| index.observed_queue(queue).map(|queue| queue.uid.clone()));
        event(happening, uid, &self.identity, self.clock.now(), number)
    }

    async fn publish(&self, event: Event) {
        let namespace = event.metadata.namespace.as_deref().unwrap_or("default");
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let answer = ask(CALL, api.create(&PostParams::default(), &event)).await;
        self.metrics.wrote(KIND, answer.result());
        match answer {
            Answer::Done(_) => {}
            Answer::Refused(status) => debug!(error = said(&status), "the event was not written"),
            Answer::Unknown(lost) => debug!(error = %lost, "the event was perhaps not written"),
        }
    }
}
