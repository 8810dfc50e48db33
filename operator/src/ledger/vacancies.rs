//! Whether the Queues that are not seen any more are really gone.

use std::time::Duration;

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{ListParams, ObjectList};
use quotient_crds::Queue;
use quotient_engine::names::Namespace;
use quotient_index::{Decoded, Index, ResourceVersion};
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::answer::{Failure, ask};
use crate::context::Context;
use crate::executor::{Backoff, Schedule};

/// How long one call may take.
const CALL: Duration = Duration::from_secs(5);

/// How many namespaces are asked for at the same time.
const PARALLEL: usize = 8;

/// Asks the API server which Queues exist where the ledger has an entry and none is seen.
///
/// A watch may be older than the ledger, and a list may be too short. Without this, the share of a deleted Queue would
/// stay unused until no such watch can be that old, or the share of a living Queue would be given away.
pub struct Vacancies {
    context: Context,
    retries: Backoff<Namespace>,
}

impl Vacancies {
    /// Nothing was asked yet.
    pub const fn new(context: Context) -> Self {
        Self { context, retries: Backoff::new(Schedule::WRITES) }
    }

    /// When a call that failed is to be tried again.
    pub fn next_retry(&self) -> Option<Instant> {
        self.retries.next()
    }

    /// To be called once the ledger is known, which stands at this `version`: has the view know which of its namespaces no Queue
    /// governs.
    ///
    /// A list that is older than the ledger proves nothing.
    pub async fn confirm(&mut self, version: Option<&ResourceVersion>) {
        let doubtful = self.context.view.read(|index| index.entries_without_queue());
        self.retries.retain(|namespace| doubtful.contains(namespace));
        let now = Instant::now();
        let context = &self.context;
        let due = doubtful.into_iter().filter(|namespace| !self.retries.is_waiting(namespace, now));
        let calls: Vec<_> = due
            .map(|namespace| async move {
                let api: Api<Decoded<Queue>> = Api::namespaced(context.client.clone(), namespace.as_str());
                let answer = ask(CALL, api.list(&ListParams::default())).await;
                context.beat.now();
                (namespace, answer)
            })
            .collect();
        let answers: Vec<_> = stream::iter(calls).buffer_unordered(PARALLEL).collect().await;
        for (namespace, answer) in answers {
            match answer {
                Ok(queues) if is_older(&queues, version) => {
                    self.failed(&namespace, "the list of Queues is older than the ledger".to_owned(), false);
                }
                Ok(queues) => {
                    self.retries.clear(&namespace);
                    debug!(%namespace, queues = queues.items.len(), "asked which Queues exist");
                    self.context.view.read(|index: &mut Index| {
                        for queue in &queues.items {
                            index.apply_decoded(&(), queue);
                        }
                        index.confirm_vacant(&namespace);
                    });
                }
                Err(failure) => {
                    let is_refused = matches!(failure, Failure::Refused(_));
                    self.failed(&namespace, failure.to_string(), is_refused);
                }
            }
        }
    }

    fn failed(&mut self, namespace: &Namespace, why: String, refused: bool) {
        warn!(%namespace, error = why, "cannot ask which Queues exist");
        self.retries.failed(namespace, why, refused, Instant::now());
    }
}

fn is_older(queues: &ObjectList<Decoded<Queue>>, ledger: Option<&ResourceVersion>) -> bool {
    let version = queues.metadata.resource_version.as_deref().map(ResourceVersion::new);
    ledger.is_some_and(|ledger| version.is_none_or(|version| version.is_older_than(ledger)))
}
