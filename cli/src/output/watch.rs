//! What a person sees while waiting: what a command is doing, and an answer that is printed again whenever it changes.

use std::io::{self, IsTerminal as _, Write as _, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::print;

/// How often a cluster is read again.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);

/// Moves to the corner of the screen and clears it.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// What is on the screen.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    shown: Option<String>,
}

impl Watch {
    /// Prints `text` if `content`, which it says, is not on the screen yet, and says whether it is still read.
    ///
    /// A terminal is cleared before.
    pub(crate) fn show(&mut self, text: &str, content: String) -> io::Result<bool> {
        if self.shown.as_ref() == Some(&content) {
            return Ok(true);
        }
        self.shown = Some(content);
        print(&if io::stdout().is_terminal() { format!("{CLEAR}{text}") } else { text.to_owned() })
    }
}

/// The wait that needs no explanation.
const PATIENCE: Duration = Duration::from_secs(1);

/// One line on standard error that says what is being done, and vanishes in the end. Only a terminal shows it.
#[derive(Debug)]
pub(crate) struct Progress {
    /// None where it is not shown.
    shown: Option<(Sender<String>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to wait for this.
    pub(crate) fn begin(what: &str) -> Self {
        if !stderr().is_terminal() {
            return Self { shown: None };
        }
        let (sender, receiver) = channel::<String>();
        let mut now = what.to_owned();
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            let mut is_shown = false;
            loop {
                let wait = PATIENCE.saturating_sub(began.elapsed());
                // Once it is shown, only news matters.
                match receiver.recv_timeout(if is_shown { Duration::from_secs(3600) } else { wait }) {
                    Ok(next) => now = next,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if began.elapsed() >= PATIENCE {
                    is_shown = true;
                    write(&format!("{now} ..."));
                }
            }
            if is_shown {
                write("");
            }
        });
        Self { shown: Some((sender, thread)) }
    }

    /// Says what is being done now.
    pub(crate) fn report(&self, what: &str) {
        if let Some((sender, _)) = &self.shown {
            // The thread ends after this value alone.
            let _ = sender.send(what.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.shown.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Replaces the line.
fn write(text: &str) {
    // A terminal that cannot be written to has no reader.
    let _ = write!(stderr(), "\r\u{1b}[K{text}");
    let _ = stderr().flush();
}
