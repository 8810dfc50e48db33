//! Whether this replica leads, for every task that depends on it.

use std::time::Duration;

use tokio::sync::watch;

use super::moment::Moment;

/// For how long this replica leads, as far as is known.
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// It does not.
    None,
    /// For so long from then on, unless the Lease is renewed.
    Since(Moment, Duration),
    /// Without a request.
    Always,
}

impl Term {
    fn is_running(&self) -> bool {
        match self {
            Self::None => false,
            // A process that was stopped for a minute must not go on writing when it wakes, even before its
            // candidate has noticed that the Lease is lost.
            Self::Since(renewed, length) => renewed.elapsed() < *length,
            Self::Always => true,
        }
    }
}

/// Whether this replica leads. Cheap to clone, and always current.
#[derive(Clone, Debug)]
pub struct Leadership(pub(super) watch::Receiver<Term>);

impl Leadership {
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
        if self.0.wait_for(Term::is_running).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[tokio::test(start_paused = true)]
    async fn a_term_is_over_whichever_clock_says_so() {
        let length = Duration::from_millis(900);
        let renewed = Moment::now(&Clock::wall());
        let (terms, receiver) = watch::channel(Term::Since(renewed.clone(), length));
        let leadership = Leadership(receiver);
        assert!(leadership.is_held());
        terms.send_replace(Term::Since(renewed.clone().before_suspension(Duration::from_secs(1)), length));
        assert!(!leadership.is_held() || cfg!(not(target_os = "linux")));
        terms.send_replace(Term::Since(renewed.clone(), length));
        assert!(leadership.is_held());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!leadership.is_held());
    }
}
