//! Faults of watches.

use std::time::Duration;

use super::CountedFault;
use crate::objects::Kind;
use crate::server::Change;

/// One fault on the watches of one operator.
pub type WatchFault = CountedFault<WatchMatch, WatchWhat>;

/// Which events are meant: all that agree with everything that is stated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchMatch {
    /// Of objects of this kind.
    pub kind: Option<Kind>,
    /// Of this sort.
    pub event: Option<Event>,
    /// Of changes not before then.
    pub from: Duration,
}

/// What an event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// There is a new object.
    Added,
    /// An object is not as it was.
    Modified,
    /// An object is gone.
    Deleted,
}

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchWhat {
    /// It never arrives; everything after it does.
    Drop,
    /// It arrives twice.
    Twice,
    /// It arrives so much later, and so does what comes after it on the same watch. Other kinds do not wait: this is
    /// what changes the order between them.
    Delay(Duration),
    /// From here on the watch is silent and stays open.
    Freeze,
    /// Instead of it the watch says 410 and ends.
    Gone,
    /// The connection breaks.
    Reset,
}

impl WatchFault {
    /// Whether the event about `change` is hit.
    pub(crate) fn hits(&mut self, change: &Change, event: Event) -> bool {
        self.counts(self.on.meets(change, event))
    }
}

impl WatchMatch {
    /// Events of a kind.
    pub fn of(kind: Kind) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    fn meets(&self, change: &Change, event: Event) -> bool {
        self.kind.is_none_or(|kind| kind == change.key.kind)
            && self.event.is_none_or(|wanted| wanted == event)
            && self.from <= change.time
    }
}
