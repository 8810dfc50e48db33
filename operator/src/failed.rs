//! Errors that only their text tells apart.

use std::error::Error;

/// What was attempted, and why it failed.
#[derive(Debug, thiserror::Error)]
#[error("{attempt}: {source}")]
pub struct Failed {
    attempt: String,
    source: Box<dyn Error + Send + Sync>,
}

impl Failed {
    /// For `map_err`: the error of an attempt, such as `read kubeconfig FILE`.
    pub(crate) fn to<E>(attempt: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        |source| Self { attempt: attempt.into(), source: source.into() }
    }
}
