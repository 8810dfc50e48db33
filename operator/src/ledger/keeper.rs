//! Reads the ledger, writes it, and knows when to start over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use quotient_crds::names::{FIELD_MANAGER, LEDGER, LEDGER_KEY, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT};
use quotient_engine::ledger::{Generation, Ledger, REQUEST_LIFE_SECONDS};
use quotient_engine::time::Timestamp;
use quotient_index::{Index, ResourceVersion};
use tokio::time::Instant;
use tracing::{info, warn};

use super::document::{LeafTargets, unpack};
use super::fit::{Fitted, fit};
use crate::answer::{Failure, ask, result, said};
use crate::context::Context;
use crate::executor::{Backoff, Schedule};
use crate::metrics::show_count;
use crate::settings::LedgerSettings;

/// How long one call may take.
const CALL: Duration = Duration::from_secs(5);

/// How long evictions may rely on a ledger that was read or written, before it is asked whether it still stands. Evictions begin
/// for as long in one cycle.
pub(super) const FRESH: Duration = Duration::from_millis(250);

/// What metrics call a write of the ledger.
const KIND: &str = "ledger";

/// The calls that may have to be tried again, as messages name them.
const READ: &str = "read";
const WRITE: &str = "write";

/// Why nothing of a plan may be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// Another writer wrote the ledger, or may have: the next decision has to start from what it says now.
    StartOver,
    /// It cannot be read or written, for this reason.
    Stuck(String),
}

/// The object as it stood when the API server answered.
#[derive(Clone)]
struct Standing {
    /// They have a version if there is an object.
    metadata: Box<ObjectMeta>,
    /// When the API server was asked, or was sent it.
    asked: Instant,
}

/// Keeps the ledger: what it says is in the view, where it stands is here.
pub struct LedgerKeeper {
    context: Context,
    api: Api<ConfigMap>,
    settings: LedgerSettings,
    /// The object as it was read or written last; none while that is not known.
    standing: Option<Standing>,
    /// Whether what is in the view was made up here and never written.
    made_up: bool,
    /// Until when another leader may have let in pods that are not seen; none if none wrote the ledger.
    shared_until: Option<Timestamp>,
    retries: Backoff<&'static str>,
    why: String,
}

impl LedgerKeeper {
    /// A keeper that has not read anything yet.
    pub fn new(context: Context, settings: LedgerSettings) -> Self {
        let api = Api::namespaced(context.client.clone(), &settings.namespace);
        let retries = Backoff::new(Schedule::WRITES);
        let why = String::new();
        Self { context, api, settings, standing: None, made_up: false, shared_until: None, retries, why }
    }

    /// When something that failed is to be tried again.
    pub fn next_retry(&self) -> Option<Instant> {
        self.retries.next()
    }

    /// The version of the object, as it was read or written last; none while it is not known, or there is none.
    pub fn version(&self) -> Option<ResourceVersion> {
        self.standing.as_ref()?.metadata.resource_version.as_deref().map(ResourceVersion::new)
    }

    /// To be called before every snapshot that is to be acted on: makes sure that the view has the ledger, and no quota
    /// bears a stamp that is newer.
    ///
    /// # Errors
    ///
    /// With the reason, when the ledger cannot be read, or could not be written and it is not time to try again.
    pub async fn ready(&mut self) -> Result<(), String> {
        let now = Instant::now();
        if [READ, WRITE].iter().any(|call| self.retries.is_waiting(call, now)) {
            return Err(self.why.clone());
        }
        // Before the ledger is read: it is written before the quotas are.
        let (newest, known) = self
            .context
            .view
            .read(|index| (index.newest_stamp(), index.ledger().map(|ledger| ledger.generation)));
        if self.standing.is_some() && known.is_some() && known >= newest {
            return Ok(());
        }
        if self.standing.take().is_some() {
            self.failed(WRITE, "another writer changed it", true);
            if self.retries.is_waiting(&WRITE, now) {
                return Err(self.why.clone());
            }
        }
        self.read(newest).await
    }

    async fn read(&mut self, newest: Option<Generation>) -> Result<(), String> {
        self.standing = None;
        let asked = Instant::now();
        let answer = ask(CALL, self.api.get_opt(LEDGER)).await;
        self.context.beat.now();
        let object = match answer {
            Ok(object) => object.unwrap_or_else(|| self.absent()),
            Err(failure) => {
                let is_refused = matches!(failure, Failure::Refused(_));
                return Err(self.failed(READ, &failure.to_string(), is_refused));
            }
        };
        let data = object.binary_data.unwrap_or_default().remove(LEDGER_KEY);
        let is_stored = data.is_some();
        let ledger = match data.map(|data| unpack(&data.0)) {
            Some(Ok(ledger)) if Some(ledger.generation) >= newest => {
                self.made_up = false;
                ledger.inherited()
            }
            Some(Ok(ledger)) => {
                let generation = ledger.generation.number();
                warn!(generation, "the ledger is older than a quota, and is rebuilt from the quotas");
                self.rebuilt("Older")
            }
            Some(Err(error)) => {
                warn!(error = %error, "the ledger cannot be read, and is rebuilt from the quotas");
                self.rebuilt("Unreadable")
            }
            None => self.rebuilt("Missing"),
        };
        self.context.view.read(Index::doubt_vacancies);
        self.standing = Some(Standing { metadata: Box::new(object.metadata), asked });
        if is_stored || self.made_up {
            self.shared_until = Some(self.context.clock.engine_now().plus_seconds(REQUEST_LIFE_SECONDS));
        }
        self.await_pods();
        self.show(ledger);
        self.retries.clear(&READ);
        Ok(())
    }

    /// Has nothing grow in Gate mode before pods are seen up to the ledger that stands: no quota tells what another leader let
    /// in, and an amount that is lowered now may be in use.
    fn await_pods(&self) {
        if let Some((version, until)) = self.version().zip(self.shared_until) {
            self.context.view.read(|index| index.await_pods(&version, until));
        }
    }

    /// A ledger from what quotas say.
    fn rebuilt(&mut self, why: &str) -> Ledger {
        let now = self.context.clock.engine_now();
        let ledger = self.context.view.read(|index| Ledger::rebuild(index.quotas_seen(), now));
        // Where nothing was ever granted, nothing is lost.
        self.made_up = ledger.rebuilt.is_some();
        if self.made_up {
            let quotas = ledger.entries.len();
            warn!(quotas, reason = why, "no quota rises until all of them are written under the new ledger");
            self.context.metrics.ledger.rebuilds.with_label_values(&[why]).inc();
        }
        ledger
    }

    /// Writes `next` with the `targets` that it was decided for, if there is anything to write. Only then may the plan that
    /// it is for be carried out.
    ///
    /// # Errors
    ///
    /// Nothing of the plan may be carried out.
    pub async fn write(&mut self, next: Option<Ledger>, targets: &LeafTargets) -> Result<(), Dropped> {
        let Some(known) = self.context.view.read(|index| index.ledger().cloned()) else {
            return Err(Dropped::StartOver);
        };
        if next.is_none() && !self.made_up {
            self.retries.settle(&WRITE);
            return Ok(());
        }
        let next = next.unwrap_or_else(|| Ledger::clone(&known));
        let fitted = match fit(next, targets, &known, self.settings.limit) {
            Ok(fitted) => fitted,
            Err(error) => return Err(Dropped::Stuck(self.failed(WRITE, &error.to_string(), true))),
        };
        if fitted.left_out > 0 {
            let (namespaces, bytes) = (fitted.left_out, fitted.packed.len());
            warn!(namespaces, bytes, "the ledger is full: there are namespaces that get no quota");
        }
        // All that is new may be what there is no place for.
        let is_same = fitted.ledger.entries == known.entries && fitted.ledger.targets == known.targets;
        if is_same && !self.made_up {
            self.retries.settle(&WRITE);
            return Ok(());
        }
        let Some(standing) = self.standing.clone().filter(|_| self.context.may_write()) else {
            return Err(Dropped::StartOver);
        };
        self.send(*standing.metadata, fitted).await
    }

    async fn send(&mut self, metadata: ObjectMeta, fitted: Fitted) -> Result<(), Dropped> {
        let Fitted { ledger, packed, .. } = fitted;
        let bytes = packed.len();
        let parameters =
            PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        // An object that was read has a version: without one a replacement would be no compare-and-swap.
        let is_new = metadata.resource_version.is_none();
        let object = with(metadata, packed);
        let asked = Instant::now();
        let answer = if is_new {
            ask(CALL, self.api.create(&parameters, &object)).await
        } else {
            ask(CALL, self.api.replace(LEDGER, &parameters, &object)).await
        };
        let metrics = &self.context.metrics;
        metrics.wrote(KIND, result(&answer));
        self.context.beat.now();
        match answer {
            Ok(object) => {
                show_count(&metrics.ledger.size, bytes);
                self.standing = Some(Standing { metadata: Box::new(object.metadata), asked });
                self.made_up = false;
                self.retries.settle(&WRITE);
                self.await_pods();
                self.show(ledger);
                Ok(())
            }
            // A 404 for a replacement says that it was deleted; for a create, that the namespace is missing.
            Err(Failure::Refused(status)) if status.code == 409 || (status.code == 404 && !is_new) => {
                Err(self.overtaken(&said(&status)))
            }
            Err(Failure::Refused(status)) => Err(Dropped::Stuck(self.failed(WRITE, &said(&status), true))),
            Err(Failure::Unknown(lost)) => {
                // It may have been written, or may yet be: what it says now comes first.
                self.standing = None;
                self.failed(WRITE, &lost.to_string(), false);
                Err(Dropped::StartOver)
            }
        }
    }

    /// Makes sure that no other writer has changed the ledger since a plan was made from it. Only then may pods be evicted for
    /// the plan: an eviction tests the pod and nothing else, so the API server would carry out that of a leader whose view and
    /// whose ledger are old.
    ///
    /// # Errors
    ///
    /// No pod may be evicted for the plan.
    pub async fn confirm(&mut self) -> Result<(), Dropped> {
        if self.standing.as_ref().is_some_and(|standing| standing.asked.elapsed() < FRESH) {
            return Ok(());
        }
        let asked = Instant::now();
        let answer = ask(CALL, self.api.get_metadata_opt(LEDGER)).await;
        self.context.beat.now();
        let standing = self.standing.take();
        match answer {
            Ok(found) => {
                let found = found.and_then(|object| object.metadata.resource_version);
                match standing.filter(|standing| standing.metadata.resource_version == found) {
                    Some(standing) => {
                        self.standing = Some(Standing { asked, ..standing });
                        Ok(())
                    }
                    None => Err(self.overtaken("another writer changed it")),
                }
            }
            Err(Failure::Refused(status)) => Err(Dropped::Stuck(self.failed(READ, &said(&status), true))),
            Err(Failure::Unknown(lost)) => {
                self.failed(READ, &lost.to_string(), false);
                Err(Dropped::StartOver)
            }
        }
    }

    /// Another writer was faster. The ledger is read again before anything else.
    fn overtaken(&mut self, why: &str) -> Dropped {
        info!(error = why, "another writer changed the ledger: starting over");
        self.context.metrics.ledger.conflicts.inc();
        self.standing = None;
        self.failed(WRITE, why, true);
        Dropped::StartOver
    }

    /// The object where there is none.
    fn absent(&self) -> ConfigMap {
        let metadata = ObjectMeta {
            name: Some(LEDGER.to_owned()),
            namespace: Some(self.settings.namespace.clone()),
            ..ObjectMeta::default()
        };
        ConfigMap { metadata, ..ConfigMap::default() }
    }

    fn show(&self, ledger: Ledger) {
        let number = i64::try_from(ledger.generation.number()).unwrap_or(i64::MAX);
        self.context.metrics.ledger.generation.set(number);
        show_count(&self.context.metrics.ledger.entries, ledger.entries.len());
        self.context.view.update(|index| index.set_ledger(Some(Arc::new(ledger))));
    }

    fn failed(&mut self, call: &'static str, why: &str, refused: bool) -> String {
        self.why = format!("{call} the ledger, ConfigMap {}/{LEDGER}: {why}", self.settings.namespace);
        warn!(error = why, "cannot {call} the ledger");
        self.retries.failed(&call, self.why.clone(), refused, Instant::now());
        self.why.clone()
    }
}

/// The object to write: what other writers put on it stays.
fn with(mut metadata: ObjectMeta, packed: Vec<u8>) -> ConfigMap {
    metadata.managed_fields = None;
    let labels = metadata.labels.get_or_insert_default();
    labels.entry(MANAGED_BY_LABEL.to_owned()).or_insert_with(|| MANAGED_BY_QUOTIENT.to_owned());
    let data = BTreeMap::from([(LEDGER_KEY.to_owned(), ByteString(packed))]);
    ConfigMap { metadata, binary_data: Some(data), ..ConfigMap::default() }
}
