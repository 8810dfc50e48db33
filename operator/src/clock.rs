//! What time it is, as API objects tell it.
//!
//! Waits and timeouts go by tokio's clock. This one is for what others read and what ages are counted from:
//! conditions, events, the Lease, the `now` of a snapshot.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

/// Where the time comes from. Cheap to clone.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Whether it is this machine's.
    is_real: bool,
    /// How long a computation takes by it. By this machine's clock that shows by itself.
    computing: Duration,
}

impl Clock {
    /// The clock of this machine.
    pub fn wall() -> Self {
        Self { is_real: true, ..Self::of(Timestamp::now) }
    }

    /// A clock that shows what `now` returns: simulated time.
    pub fn of(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { now: Arc::new(now), is_real: false, computing: Duration::ZERO }
    }

    /// The same where a plan takes `length`: simulated time passes only where something waits.
    #[must_use]
    pub fn computing(self, length: Duration) -> Self {
        Self { computing: length, ..self }
    }

    /// Waits for as long as a computation takes in simulated time.
    pub(crate) async fn computed(&self) {
        if !self.computing.is_zero() {
            tokio::time::sleep(self.computing).await;
        }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// How long it has been since 1970.
    pub(crate) fn since_epoch(&self) -> Duration {
        Duration::try_from(self.now().as_duration()).unwrap_or_default()
    }

    /// How long it has been since the machine was booted, time that it slept through included. None where that is not
    /// known, or time is simulated: a simulated machine does not sleep.
    pub(crate) fn since_boot(&self) -> Option<Duration> {
        if self.is_real { since_boot() } else { None }
    }

    /// The time as the engine counts it.
    pub(crate) fn engine_now(&self) -> quotient_engine::time::Timestamp {
        quotient_engine::time::Timestamp::from_millis(self.now().as_millisecond())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clock")
    }
}

#[cfg(target_os = "linux")]
fn since_boot() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

/// Elsewhere no cluster runs its operators.
#[cfg(not(target_os = "linux"))]
const fn since_boot() -> Option<Duration> {
    None
}
