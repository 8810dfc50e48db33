//! Whether this replica leads, for everybody who has to know.

use tokio::sync::watch;
use tokio::time::Instant;

/// For how long this replica leads, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    /// It does not.
    None,
    /// Until then, unless the Lease is renewed.
    Until(Instant),
    /// Without asking anybody.
    Always,
}

impl Term {
    fn is_running(self) -> bool {
        match self {
            Self::None => false,
            // A process that was stopped for a minute must not go on writing when it wakes, even before its
            // candidate has noticed that the Lease is lost.
            Self::Until(end) => Instant::now() < end,
            Self::Always => true,
        }
    }
}

/// Whether this replica leads. Cheap to clone, and always current.
#[derive(Clone, Debug)]
pub struct Leadership(watch::Receiver<Term>);

impl Leadership {
    /// Of a replica that leads if and when `receiver` says so.
    pub(super) fn new(receiver: watch::Receiver<Term>) -> Self {
        Self(receiver)
    }

    /// Of a replica that leads without asking.
    pub fn unconditional() -> Self {
        Self(watch::channel(Term::Always).1)
    }

    /// Whether this replica leads now.
    pub fn is_held(&self) -> bool {
        self.0.borrow().is_running()
    }

    /// Waits until this replica leads. Pending for ever if it never will.
    pub async fn gained(&mut self) {
        if self.0.wait_for(|term| term.is_running()).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
