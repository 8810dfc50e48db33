//! Log lines: text for people, JSON for machines.

use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;

/// Why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The filter cannot be read.
    #[error("read --log-level {filter:?}: {source}")]
    Filter {
        /// What was written.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// Somebody else logs in this process already.
    #[error("start logging: {0}")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The module that logs every failed request as an error, without saying what it was for.
const CLIENT: &str = "kube_client";

/// Sends log lines to standard error from here on.
///
/// What `filter` does not say otherwise about, the client keeps to itself: whoever made a request logs its failure,
/// with what it means.
pub fn start(format: LogFormat, filter: &str) -> Result<(), LoggingError> {
    let quiet = if filter.contains(CLIENT) { filter.to_owned() } else { format!("{CLIENT}=off,{filter}") };
    let parsed = EnvFilter::try_new(quiet)
        .map_err(|source| LoggingError::Filter { filter: filter.to_owned(), source })?;
    let lines = tracing_subscriber::fmt().with_env_filter(parsed).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.with_target(false).with_ansi(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).try_init(),
    }
    .map_err(LoggingError::Start)
}
