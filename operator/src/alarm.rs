//! When something that was put off is due.

use tokio::time::Instant;

/// The earliest of the times at which something that was put off is due; none if nothing was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alarm(pub(crate) Option<Instant>);

impl Alarm {
    /// Something more is due then, if at all.
    pub(crate) fn set(&mut self, at: impl Into<Option<Instant>>) {
        self.0 = self.0.into_iter().chain(at.into()).min();
    }
}
