//! Standard output and standard error of every command.

use std::io::{self, ErrorKind, Write as _};

/// Prints to standard output, and says whether it is still read.
///
/// A reader that has seen enough (`| head`) is no error, and what is left is done without it.
pub fn print(text: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}

/// Prints a line to standard error. If it cannot be written there, the answer and the exit code are the same without it.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
