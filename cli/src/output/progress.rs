//! What a command is doing, for a person who waits longer than a second.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// The wait that needs no explanation.
const PATIENCE: Duration = Duration::from_secs(1);

/// One line on standard error that says what is being done, and vanishes in the end. Only a terminal shows it.
#[derive(Debug)]
pub(crate) struct Progress {
    began: Instant,
    is_shown: bool,
    is_terminal: bool,
}

impl Progress {
    /// Begins to wait.
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now(), is_shown: false, is_terminal: stderr().is_terminal() }
    }

    /// Says what is being done now.
    pub(crate) fn tell(&mut self, what: &str) {
        if self.is_terminal && self.began.elapsed() >= PATIENCE {
            self.is_shown = true;
            // A terminal that cannot be written to has no reader.
            let _ = write!(stderr(), "\r\u{1b}[K{what}…");
            let _ = stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(stderr(), "\r\u{1b}[K");
        }
    }
}
