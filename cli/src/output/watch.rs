//! An answer that is printed again whenever it changes.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

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
    /// Prints `text` if `content`, which it says, is not on the screen yet. A terminal is cleared before.
    pub(crate) fn show(&mut self, text: &str, content: String) -> io::Result<()> {
        if self.shown.as_ref() == Some(&content) {
            return Ok(());
        }
        self.shown = Some(content);
        print(&if io::stdout().is_terminal() { format!("{CLEAR}{text}") } else { text.to_owned() })
    }
}
