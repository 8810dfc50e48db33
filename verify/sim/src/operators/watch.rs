//! One watch: a place in the history of a kind, and how fast and how faithfully it is told.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::time::{Instant, Sleep};

use super::OperatorLink;
use crate::faults::{Event, WatchWhat};
use crate::objects::{Key, Kind, Name};
use crate::random::Random;
use crate::server::{Change, Failure, Query, Server};

/// How often a watch hears of versions that do not concern it.
const BOOKMARK: Duration = Duration::from_secs(60);

/// How long a watch lasts that does not say.
const DEFAULT: u64 = 1800;

/// A watch.
#[derive(Debug)]
pub(super) struct Watch {
    server: Server,
    link: Arc<OperatorLink>,
    life: u32,
    kind: Kind,
    namespace: Option<Name>,
    query: Query,
    random: Random,
    /// How many changes of the kind it has dealt with.
    place: usize,
    /// The version that it has told of.
    version: u64,
    ends: Duration,
    bookmark: Duration,
    /// The change that is on its way, and when it arrives.
    coming: Option<(Arc<Change>, Event, Duration)>,
    /// Nothing arrives before what came before it.
    last: Duration,
    ready: VecDeque<Bytes>,
    state: State,
    sleep: Pin<Box<Sleep>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more is said, and nothing is closed.
    Silent,
    /// The end, once what is ready has been told.
    Closed,
    /// The same, as an error.
    Broken,
}

impl Watch {
    /// A watch of what `key` and `query` describe.
    pub(super) fn new(server: Server, link: Arc<OperatorLink>, life: u32, key: &Key, query: Query) -> Self {
        let version = query.version.unwrap_or_default();
        let state = server.state();
        let place = state.store.history(key.kind).partition_point(|change| change.version <= version);
        let forgotten = version < state.store.forgotten();
        drop(state);
        let now = server.clock().elapsed();
        let mut watch = Self {
            random: link.random(),
            place,
            version,
            ends: now + Duration::from_secs(query.seconds.unwrap_or(DEFAULT)),
            bookmark: now + BOOKMARK,
            coming: None,
            last: Duration::ZERO,
            ready: VecDeque::new(),
            state: State::Open,
            sleep: Box::pin(tokio::time::sleep_until(Instant::now())),
            kind: key.kind,
            namespace: Some(key.namespace.clone()).filter(|namespace| !namespace.is_empty()),
            server,
            link,
            life,
            query,
        };
        if forgotten {
            watch.gone();
        }
        watch
    }

    /// The next line.
    pub(super) fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(line)));
            }
            match self.state {
                State::Closed => return Poll::Ready(None),
                State::Broken => return Poll::Ready(Some(Err(reset()))),
                State::Silent => return Poll::Pending,
                State::Open if !self.link.is_alive(self.life) => return Poll::Pending,
                State::Open => {}
            }
            let now = self.server.clock().elapsed();
            if let Some(until) = self.link.paused_until() {
                if self.sleeps(until, context) {
                    return Poll::Pending;
                }
                continue;
            }
            if let Some(what) = self.link.take_suffering(self.kind) {
                self.suffer(what);
                continue;
            }
            if self.coming.is_none() {
                self.take_next(context);
                if self.state != State::Open {
                    continue;
                }
            }
            if let Some((_, _, due)) = &self.coming
                && *due <= now
            {
                self.arrive();
                continue;
            }
            if self.ends <= now {
                self.bookmark_line();
                self.state = State::Closed;
                continue;
            }
            if self.query.bookmarks && self.bookmark <= now && self.coming.is_none() {
                self.bookmark_line();
                self.bookmark = now + BOOKMARK;
                continue;
            }
            let due = self.coming.as_ref().map_or(self.bookmark, |(_, _, due)| *due);
            if self.sleeps(due.min(self.ends), context) {
                return Poll::Pending;
            }
        }
    }

    /// Has the task woken at `time`. False if that is now.
    fn sleeps(&mut self, time: Duration, context: &mut Context<'_>) -> bool {
        let at = self.server.clock().at(time);
        if self.sleep.deadline() != at {
            self.sleep.as_mut().reset(at);
        }
        self.sleep.as_mut().poll(context).is_pending()
    }

    /// Sends the next change on its way, or waits for one.
    fn take_next(&mut self, context: &Context<'_>) {
        let server = self.server.clone();
        let mut state = server.state();
        while let Some(change) = state.store.history(self.kind).get(self.place) {
            let change = Arc::clone(change);
            self.place += 1;
            let Some(event) = self.event(&change) else {
                self.version = change.version;
                continue;
            };
            let fault = self.link.fault_of_event(&change, event);
            let mut due = change.time + self.random.lag(self.link.options.watch_lag);
            if let Some((version, until)) = self.link.view()
                && change.version > version
            {
                due = due.max(until);
            }
            match fault {
                Some(WatchWhat::Drop) => {
                    self.version = change.version;
                    continue;
                }
                Some(WatchWhat::Delay(length)) => due += length,
                Some(WatchWhat::Twice) => {
                    self.ready.push_back(self.encode(event, &change));
                }
                Some(what) => self.suffer(what),
                None => {}
            }
            if self.state == State::Open {
                self.coming = Some((change, event, due.max(self.last)));
            }
            return;
        }
        state.store.wait(self.kind, context.waker());
    }

    fn suffer(&mut self, what: WatchWhat) {
        match what {
            WatchWhat::Freeze => self.state = State::Silent,
            WatchWhat::Reset => self.state = State::Broken,
            WatchWhat::Gone => self.gone(),
            WatchWhat::Drop | WatchWhat::Twice | WatchWhat::Delay(_) => {}
        }
    }

    /// What the change is for a watch of these objects only.
    fn event(&self, change: &Change) -> Option<Event> {
        if self.namespace.as_ref().is_some_and(|namespace| *namespace != change.key.namespace) {
            return None;
        }
        let selects = |object: &Option<Arc<serde_json::Value>>| {
            object
                .as_ref()
                .is_some_and(|object| self.query.selects(object) && self.link.shows(self.kind, object))
        };
        match (selects(&change.before), selects(&change.after)) {
            (false, false) => None,
            (false, true) => Some(Event::Added),
            (true, true) => Some(Event::Modified),
            (true, false) => Some(Event::Deleted),
        }
    }

    /// What was on its way is here.
    fn arrive(&mut self) {
        if let Some((change, event, due)) = self.coming.take() {
            self.version = change.version;
            self.last = due;
            self.ready.push_back(self.encode(event, &change));
        }
    }

    /// The event as the operator is shown it.
    fn encode(&self, event: Event, change: &Change) -> Bytes {
        match self.link.altered(self.kind, &change.shown) {
            Some(altered) => line(event.name(), &serde_json::to_vec(&altered).unwrap_or_default()),
            None => line(event.name(), change.json()),
        }
    }

    fn bookmark_line(&mut self) {
        if self.query.bookmarks {
            // A server that is not behind knows how far etcd is.
            if self.coming.is_none() && self.link.view().is_none() {
                self.version = self.version.max(self.server.state().store.version());
            }
            let object = json!({
                "kind": self.kind.name(), "apiVersion": self.kind.api_version(),
                "metadata": {"resourceVersion": self.version.to_string(), "creationTimestamp": null},
            });
            self.ready.push_back(line("BOOKMARK", &serde_json::to_vec(&object).unwrap_or_default()));
        }
    }

    /// Says that what it would have to tell has been forgotten, and ends.
    fn gone(&mut self) {
        let status = serde_json::to_vec(&Failure::expired().status).unwrap_or_default();
        self.ready.push_back(line("ERROR", &status));
        self.state = State::Closed;
    }
}

impl Event {
    const fn name(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

fn line(kind: &str, object: &[u8]) -> Bytes {
    let mut line = Vec::with_capacity(object.len() + 40);
    line.extend_from_slice(b"{\"type\":\"");
    line.extend_from_slice(kind.as_bytes());
    line.extend_from_slice(b"\",\"object\":");
    line.extend_from_slice(object);
    line.extend_from_slice(b"}\n");
    line.into()
}

pub(super) fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer")
}
