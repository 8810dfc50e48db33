//! An instant by two clocks, so that time slept through counts.

use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Clock;

/// An instant.
///
/// `Instant` is `CLOCK_MONOTONIC` on Linux. That goes on while a process is stopped (SIGSTOP, a debugger, a starved
/// container) but stands still while the machine is suspended, and the Lease does not. So the clock that counts
/// suspension as well is looked at, too, and whichever has gone further decides. A virtual machine that its host
/// stops may see neither move; there only what every write tests keeps a late one from harm.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    running: Instant,
    /// Since the machine was booted, suspension included; none where that is not known.
    since_boot: Option<Duration>,
    clock: Clock,
}

impl Moment {
    pub(super) fn now(clock: &Clock) -> Self {
        Self { running: Instant::now(), since_boot: clock.since_boot(), clock: clock.clone() }
    }

    /// By the clock that timers use.
    pub(super) const fn instant(&self) -> Instant {
        self.running
    }

    /// How long ago it was, by the clock that has gone further.
    pub(super) fn elapsed(&self) -> Duration {
        let since_boot = self.clock.since_boot().zip(self.since_boot);
        let slept_too = since_boot.map(|(now, then)| now.saturating_sub(then)).unwrap_or_default();
        self.running.elapsed().max(slept_too)
    }

    /// The same moment if the machine had been suspended for so long since.
    #[cfg(test)]
    pub(super) fn before_suspension(self, suspended: Duration) -> Self {
        Self { since_boot: self.since_boot.map(|then| then.saturating_sub(suspended)), ..self }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_that_the_machine_slept_through_has_passed() {
        // A machine that runs tests has been up for a second.
        let slept = Moment::now(&Clock::wall()).before_suspension(Duration::from_secs(1));
        assert!(slept.elapsed() >= Duration::from_secs(1));
        let simulated = Clock::of(|| k8s_openapi::jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(Moment::now(&simulated).elapsed(), Duration::ZERO);
    }
}
