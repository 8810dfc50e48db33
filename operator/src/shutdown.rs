//! Ending: the first signal asks, the second insists.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// The exit status of a process that was told to end at once: 128 and the number of SIGINT.
const ABORTED: i32 = 130;

/// A token that is canceled by SIGTERM or SIGINT. A second signal ends the process on the spot, without
/// releasing the Lease.
pub(crate) fn on_signal() -> std::io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut next = async move || {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    };
    let token = CancellationToken::new();
    let canceled = token.clone();
    tokio::spawn(async move {
        let first = next().await;
        info!(signal = first, "told to end: finishing what is under way");
        canceled.cancel();
        let second = next().await;
        warn!(signal = second, "told to end again: ending at once");
        std::process::exit(ABORTED);
    });
    Ok(token)
}
