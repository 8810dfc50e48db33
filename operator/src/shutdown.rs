//! Ending: the first signal asks, the second insists.

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// The exit status of a process that was told to end at once: 128 and the number of SIGINT.
const ABORTED: i32 = 130;

/// A token that is canceled by SIGTERM or SIGINT. A second signal ends the process on the spot, without
/// releasing the Lease.
pub(crate) fn on_signal() -> std::io::Result<CancellationToken> {
    let mut signals = Signals::listen()?;
    let token = CancellationToken::new();
    let canceled = token.clone();
    tokio::spawn(async move {
        let first = signals.next().await;
        info!(signal = first, "told to end: finishing what is under way");
        canceled.cancel();
        let second = signals.next().await;
        warn!(signal = second, "told to end again: ending at once");
        std::process::exit(ABORTED);
    });
    Ok(token)
}

/// What tells a process to end.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// What tells a process to end: where no cluster runs operators, the command line alone is built.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self(tokio::signal::windows::ctrl_c()?))
    }

    async fn next(&mut self) -> &'static str {
        self.0.recv().await;
        "Ctrl-C"
    }
}
