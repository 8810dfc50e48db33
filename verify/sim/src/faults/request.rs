//! Faults of requests.

use std::fmt;
use std::time::Duration;

use super::{Act, CountedFault};
use crate::objects::Kind;
use crate::server::Call;
use crate::trace::Verb;

/// Which requests are meant: all that agree with everything that is stated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The nth request of the operator, from 0, that may write something and is not about the Lease. It is counted when
    /// it reaches the server, over all lives: its place among [`Trace::asked_by`](crate::trace::Trace::asked_by)
    /// without the Lease.
    pub write: Option<u64>,
    /// What is asked for.
    pub verb: Option<Verb>,
    /// Of which kind.
    pub kind: Option<Kind>,
    /// In which namespace.
    pub namespace: Option<String>,
    /// `status`, `eviction`, or empty for the object itself.
    pub subresource: Option<&'static str>,
    /// Not before then.
    pub from: Duration,
    /// Not after then.
    pub until: Option<Duration>,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub enum What {
    /// The operator ends before the server hears of it, and is back after so long.
    CrashBefore(Duration),
    /// The server carries it out, and the operator ends before it hears of that.
    CrashAfter(Duration),
    /// It is carried out, and no answer ever comes.
    ReplyLost,
    /// It is carried out, and the connection breaks.
    ReplyReset,
    /// It is carried out, and the answer is an error of this code.
    ReplyError(u16),
    /// It is refused with this code.
    Reject(u16),
    /// It is refused because the server is busy, with the seconds after which to come back.
    Busy(Option<u32>),
    /// The connection breaks before the server hears of it.
    Reset,
    /// Neither does the server hear of it nor comes an answer.
    Lost,
    /// It reaches the server only after so long, whether or not the operator still waits for it, and even if it has
    /// ended by then.
    Delay(Duration),
    /// A list without objects.
    EmptyList,
    /// A list of every other object only.
    PartialList,
    /// A list of how things were so many versions ago.
    StaleList(u64),
    /// This is done first; then the request is dealt with as usual.
    First(Box<Act>),
    /// The request is dealt with as usual; then this is done, before the answer leaves.
    Then(Box<Act>),
}

/// One fault of an operator's requests.
pub type Fault = CountedFault<Match, What>;

impl Fault {
    /// Hits the nth request that may write something and is not about the Lease.
    pub fn at_write(write: u64, what: What) -> Self {
        Self::on(Match { write: Some(write), ..Match::default() }, what)
    }

    /// Whether `call` is hit, the `write`th at `time`.
    pub(crate) fn hits(&mut self, call: &Call, write: Option<u64>, time: Duration) -> bool {
        self.counts(self.on.meets(call, write, time))
    }
}

impl Match {
    /// Requests of this sort for objects of a kind.
    pub fn requests(verb: Verb, kind: Kind) -> Self {
        Self { verb: Some(verb), kind: Some(kind), ..Self::default() }
    }

    /// Evictions.
    pub fn evictions() -> Self {
        Self { subresource: Some("eviction"), ..Self::default() }
    }

    fn meets(&self, call: &Call, write: Option<u64>, time: Duration) -> bool {
        (self.write.is_none() || self.write == write)
            && self.verb.is_none_or(|verb| verb == call.verb)
            && self.kind.is_none_or(|kind| kind == call.key.kind)
            && self.namespace.as_ref().is_none_or(|namespace| **namespace == *call.key.namespace)
            && self.subresource.is_none_or(|subresource| subresource == call.subresource)
            && self.from <= time
            && self.until.is_none_or(|until| time <= until)
    }
}

impl fmt::Display for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(_) => formatter.write_str("First"),
            Self::Then(_) => formatter.write_str("Then"),
            other => write!(formatter, "{other:?}"),
        }
    }
}
