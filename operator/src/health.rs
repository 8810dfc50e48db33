//! Signs of life: when each long-running part last showed that it is not stuck.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The sign of life of one part.
#[derive(Clone, Debug)]
pub struct Heartbeat(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    part: &'static str,
    /// How long the part may be silent.
    allowed: Duration,
    start: Instant,
    /// Milliseconds from `start` to the last sign.
    last: AtomicU64,
}

impl Heartbeat {
    /// The sign of life of `part`, which may be silent for `allowed`. Being born is the first sign.
    pub fn new(part: &'static str, allowed: Duration) -> Self {
        Self(Arc::new(Inner { part, allowed, start: Instant::now(), last: AtomicU64::new(0) }))
    }

    /// Shows that the part is alive.
    pub fn now(&self) {
        let millis = u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last.fetch_max(millis, Ordering::Relaxed);
    }

    /// How long it has been since the last sign.
    pub fn silence(&self) -> Duration {
        self.0.start.elapsed().saturating_sub(Duration::from_millis(self.0.last.load(Ordering::Relaxed)))
    }

    /// What is wrong, if the part has been silent for too long.
    pub fn failure(&self) -> Option<String> {
        let silent = self.silence();
        (silent > self.0.allowed)
            .then(|| format!("{} has been silent for {} s", self.0.part, silent.as_secs()))
    }
}
