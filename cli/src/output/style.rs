//! Colors.

use std::io::{IsTerminal as _, stdout};

/// What a piece of text means; the terminal shows it as a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Strong,
    Faint,
    Good,
    Notice,
    Alarm,
}

/// Whether colours are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// Coloured on a terminal, unless the user or the environment asks for none (<https://no-color.org>).
    pub(crate) fn of_stdout(no_color: bool) -> Self {
        let refused = no_color
            || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        if stdout().is_terminal() && !refused { Self::Coloured } else { Self::Plain }
    }

    /// `text`, wrapped in the sequences that colour it.
    pub(crate) fn paint(self, text: &str, colour: Colour) -> String {
        let code = match colour {
            Colour::Plain => return text.to_owned(),
            _ if self == Self::Plain => return text.to_owned(),
            Colour::Strong => 1,
            Colour::Faint => 2,
            Colour::Good => 32,
            Colour::Notice => 33,
            Colour::Alarm => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
