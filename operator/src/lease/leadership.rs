//! Whether this replica leads, for everybody who has to know.

use tokio::sync::watch;

/// Whether this replica leads. Cheap to clone, and always current.
#[derive(Clone, Debug)]
pub struct Leadership(watch::Receiver<bool>);

impl Leadership {
    /// Of a replica that leads if and when `receiver` says so.
    pub(super) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// Of a replica that leads without asking.
    pub fn unconditional() -> Self {
        Self(watch::channel(true).1)
    }

    /// Whether this replica leads now.
    pub fn is_held(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until this replica leads. Pending for ever if it never will.
    pub async fn gained(&mut self) {
        if self.0.wait_for(|held| *held).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
