//! Standard output of every command.

use std::io::{self, ErrorKind, Write as _};

/// Prints to standard output. A reader that has seen enough (`| head`) is no error, and what is left is done without it.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
