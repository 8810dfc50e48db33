//! What people, and the machines below the cluster, do.

use std::time::Duration;

use super::{OperatorOptions, WatchWhat};
use crate::objects::Kind;
use crate::server::{Call, Webhook};

/// Something that is done to the cluster or to an operator from outside.
#[derive(Clone, Debug)]
pub enum Act {
    /// A person asks something of the API server, as client `human`.
    Human(Call),
    /// Another operator is started.
    Start(OperatorOptions),
    /// An operator is told to end, and is not started again.
    Stop {
        /// Which, by the order of their starts.
        operator: usize,
    },
    /// An operator does not get through to the API server nor hears of it for so long. What it has sent arrives when
    /// that is over, even if it has long given up on it or has ended: of a process that was stopped, and of a network
    /// that came back, this is what others see. Its own timers go on.
    Pause {
        /// Which.
        operator: usize,
        /// For how long.
        length: Duration,
    },
    /// The clock of an operator jumps.
    Clock {
        /// Which.
        operator: usize,
        /// By how much, in milliseconds.
        millis: i64,
    },
    /// An operator's watch of a kind suffers this now; what is about a single event hits the next one.
    Watch {
        /// Which.
        operator: usize,
        /// Of which kind.
        kind: Kind,
        /// What it suffers.
        what: WatchWhat,
    },
    /// etcd is restored from a backup that was made so long ago, with its revision raised, and the API servers begin anew.
    Restore {
        /// How long ago.
        back: Duration,
    },
    /// The operator panics when it reads its clock next.
    Panic {
        /// Which.
        operator: usize,
    },
    /// The controller of this name does nothing from now on, or goes on: `quota-controller`.
    Controller {
        /// Which.
        name: &'static str,
        /// Whether it goes on.
        runs: bool,
    },
    /// These webhooks have a say from now on, and no others.
    Webhooks(Vec<Webhook>),
    /// The API server forgets its history: every watch that is resumed from before is refused with 410.
    Forget,
}
