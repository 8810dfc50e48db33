//! A simulated API server: objects with versions, conflicts, subresources, admission by quota, evictions and watches.
//!
//! It serves the kinds and verbs that the operator and the controllers use, with the answers that a real one gives; what it
//! does not serve it refuses loudly. There is no authorization.
//!
//! One lock, one thread: a request is dealt with at one instant, and what it finds and leaves is in the [`Trace`].

mod admission;
mod call;
mod charges;
mod create;
mod delete;
mod evict;
mod failure;
mod gates;
mod in_flight;
mod json_patch;
mod list;
mod store;
mod update;
mod webhook;
mod wire;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Notify;

pub use call::{Answer, Body, Call, Query, Reply};
pub use charges::{Amounts, is_charged, is_terminal, quantities, quantity, requests, text};
pub(crate) use charges::{add, in_words_of_quota};
pub use failure::Failure;
pub use gates::is_gated;
pub(crate) use in_flight::InFlight;
pub use store::{Change, Store};
pub use webhook::Webhook;
pub(crate) use wire::{parse, respond};

use crate::clock::SimClock;
use crate::objects::Name;
use crate::objects::{Key, Kind};
use crate::random::{Lag, Random};
use crate::trace::{Record, Trace, Verb};

/// The server. Cheap to clone; all clones are the same server.
#[derive(Clone, Debug)]
pub struct Server(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    clock: SimClock,
    /// Rings at every change that a controller may have to do with.
    changed: Notify,
}

/// The client.
#[derive(Clone, Debug)]
pub struct Client {
    /// Its name.
    pub name: Name,
    /// Which of its lives.
    pub life: u32,
}

impl Client {
    /// A client that has only one life.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), life: 0 }
    }
}

/// Everything that the server knows.
#[derive(Debug)]
pub struct State {
    /// The time.
    pub(crate) clock: SimClock,
    /// The objects.
    pub store: Store,
    /// What happened.
    pub trace: Trace,
    /// Objects created so far: each has a uid of its own.
    created: u64,
    /// Writes applied so far.
    writes: u64,
    /// When something other than a lease was written last.
    pub(crate) last_write: std::time::Duration,
    /// When anything but Leases and statuses of Queues was written last: workloads that never start are tried again for
    /// ever, and statuses say so.
    pub(crate) last_move: std::time::Duration,
    /// The pods that are admitted and not stored yet.
    pub(crate) in_flight: InFlight,
    /// The controllers that do nothing.
    pub(crate) stopped: BTreeSet<&'static str>,
    /// What else has a say in requests.
    pub(crate) webhooks: Vec<Webhook>,
    /// Every change that controllers may have to do with, in order.
    pub(crate) news: Vec<Arc<Change>>,
}

impl Server {
    /// A server without objects.
    pub fn new(clock: SimClock) -> Self {
        let state = State {
            clock,
            store: Store::default(),
            trace: Trace::default(),
            created: 0,
            writes: 0,
            last_write: std::time::Duration::ZERO,
            last_move: std::time::Duration::ZERO,
            in_flight: InFlight::new(Random::new(0), Lag::new(0, 0)),
            stopped: BTreeSet::new(),
            webhooks: Vec::new(),
            news: Vec::new(),
        };
        Self(Arc::new(Shared { state: Mutex::new(state), clock, changed: Notify::new() }))
    }

    /// The clock of the simulation.
    pub fn clock(&self) -> SimClock {
        self.0.clock
    }

    /// Everything that it knows. Not to be held across an await.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deals with one request of `client`.
    pub fn handle(&self, client: &Client, call: &Call, fault: Option<&Name>) -> Reply {
        let mut state = self.state();
        let reply = state.handle(client, call, fault);
        self.ring(&state);
        reply
    }

    /// Wakes the controllers if there is something new.
    pub(crate) fn ring(&self, state: &State) {
        if !state.news.is_empty() || !state.in_flight.news.is_empty() {
            self.0.changed.notify_one();
        }
    }

    /// Waits until there is something new for the controllers.
    pub(crate) async fn changed(&self) {
        self.0.changed.notified().await;
    }
}

/// What a request came to: the answer, and the object before and after.
struct Done {
    answer: Answer,
    name: Option<Name>,
    before: Option<Arc<Value>>,
    after: Option<Arc<Value>>,
}

impl State {
    /// Now, as objects write it.
    pub fn date(&self) -> String {
        self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Deals with one request of `client`, which `fault` hit.
    pub fn handle(&mut self, client: &Client, call: &Call, fault: Option<&Name>) -> Reply {
        let result = self.apply(client, call);
        let mut record = self.record(client, call, fault);
        let reply = match result {
            Ok(done) => {
                if done.has_changed() {
                    record.write = Some(self.writes);
                    self.writes += 1;
                    if call.key.kind != Kind::Lease {
                        self.last_write = self.clock.elapsed();
                    }
                    if !matches!(call.key.kind, Kind::Lease | Kind::Queue) {
                        self.last_move = self.clock.elapsed();
                    }
                }
                record.code = done.answer.code;
                record.before = done.before;
                record.after = done.after;
                if let Some(name) = done.name {
                    record.name = name;
                }
                Ok(done.answer)
            }
            Err(failure) => {
                record.code = failure.code;
                record.message = Some(failure.message().into());
                Err(failure)
            }
        };
        self.trace.push(record);
        reply
    }

    /// Notes a request that never gets here: what `fault` made of it.
    pub(crate) fn note_lost(
        &mut self,
        client: &Client,
        call: &Call,
        fault: &Name,
        failure: Option<&Failure>,
    ) {
        let mut record = self.record(client, call, Some(fault));
        record.code = failure.map_or(0, |failure| failure.code);
        record.message = failure.map(|failure| failure.message().into());
        self.trace.push(record);
    }

    fn record(&self, client: &Client, call: &Call, fault: Option<&Name>) -> Record {
        let read = matches!(call.verb, Verb::List | Verb::Watch);
        Record {
            number: 0,
            write: None,
            time: self.clock.elapsed(),
            client: client.name.clone(),
            life: client.life,
            verb: call.verb,
            kind: call.key.kind,
            namespace: call.key.namespace.clone(),
            name: call.key.name.clone(),
            subresource: call.subresource,
            code: 0,
            message: None,
            asked: call.body.value(),
            before: None,
            after: None,
            fault: fault.cloned(),
            version: call.query.version.filter(|_| read).unwrap_or_else(|| self.store.version()),
        }
    }

    fn apply(&mut self, client: &Client, call: &Call) -> Result<Done, Failure> {
        if let Some(refusal) = self.webhooks.iter().find_map(|webhook| webhook.refuses(call)) {
            return Err(refusal);
        }
        match (call.verb, call.subresource) {
            (Verb::Get, _) => self.get(call),
            (Verb::List, _) => self.list(call),
            (Verb::Watch, _) => Ok(Done::read(Arc::new(Value::Null))),
            (Verb::Create, "") => self.create(client, call),
            (Verb::Create, "eviction") => self.evict(call),
            (Verb::Create, "binding") => self.bind(call),
            (Verb::Update, "" | "status") => self.update(call),
            (Verb::Patch, "" | "status") => self.patch(call),
            (Verb::Delete, "") => self.delete(call),
            (verb, subresource) => {
                Err(Failure::new(405, "MethodNotAllowed", format!("{verb:?} {subresource} is not simulated")))
            }
        }
    }

    fn get(&self, call: &Call) -> Result<Done, Failure> {
        let found = self.store.get(&call.key).ok_or_else(|| Failure::not_found(&call.key))?;
        Ok(Done::read(Arc::clone(found)))
    }

    /// A write that the server makes by itself, as `client`: what a request brings with it.
    fn also(&mut self, client: &str, subresource: &'static str, key: &Key, after: Value) {
        let call = Call::new(Verb::Update, key.clone()).on(subresource);
        let change = self.commit(key.clone(), Some(after));
        let record = self.record(&Client::named(client), &call, None);
        self.write_down(record, &change);
    }

    /// Adds what the server did by itself to the trace.
    fn write_down(&mut self, record: Record, change: &Change) {
        let (before, after) = (change.before.clone(), change.after.clone());
        self.trace.push(Record { write: Some(self.writes), code: 200, before, after, ..record });
        self.writes += 1;
    }

    /// Makes `key` what `after` says, and answers with it.
    fn done(&mut self, code: u16, key: &Key, after: Option<Value>) -> Done {
        let change = self.commit(key.clone(), after);
        Done {
            answer: Answer::new(code, Arc::clone(&change.shown)),
            name: None,
            before: change.before.clone(),
            after: change.after.clone(),
        }
    }

    fn commit(&mut self, key: Key, after: Option<Value>) -> Arc<Change> {
        let change = self.store.commit(key, after, self.clock.elapsed());
        self.notify_actors(&change);
        change
    }

    fn notify_actors(&mut self, change: &Arc<Change>) {
        let concerns = match change.key.kind {
            Kind::Lease | Kind::Event | Kind::ConfigMap => false,
            // Garbage collection looks after what it owned.
            Kind::Queue => change.after.is_none(),
            _ => true,
        };
        if concerns {
            self.news.push(Arc::clone(change));
        }
    }

    /// Everything becomes what it was so long ago: see [`Store::restore`].
    pub(crate) fn restore(&mut self, back: std::time::Duration) {
        let now = self.clock.elapsed();
        for change in self.store.restore(now.saturating_sub(back), now) {
            let call = Call::new(Verb::Update, change.key.clone());
            let record = self.record(&Client::named("backup"), &call, None);
            self.write_down(Record { version: change.version, ..record }, &change);
            self.notify_actors(&change);
        }
        (self.last_write, self.last_move) = (now, now);
    }

    /// A uid that no other object ever has.
    fn new_uid(&mut self) -> String {
        self.created += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.created)
    }
}

impl Done {
    fn has_changed(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => !Arc::ptr_eq(before, after),
            (None, None) => false,
            _ => true,
        }
    }

    const fn read(body: Arc<Value>) -> Self {
        Self { answer: Answer::new(200, body), name: None, before: None, after: None }
    }

    /// Nothing was different from what was wanted.
    fn unchanged(object: &Arc<Value>) -> Self {
        Self {
            answer: Answer::new(200, Arc::clone(object)),
            name: None,
            before: Some(Arc::clone(object)),
            after: Some(Arc::clone(object)),
        }
    }
}
