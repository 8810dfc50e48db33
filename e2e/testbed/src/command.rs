//! Running a program of the test bed to its end.

use std::ffi::OsStr;
use std::process::Stdio;

use anyhow::{Context as _, bail};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Runs it with `input` as its standard input. Returns what it printed to standard output.
///
/// # Errors
///
/// When it fails: with all that it printed, because `helm lint` says on standard output what is wrong.
pub(super) async fn run(mut command: Command, input: &str) -> anyhow::Result<String> {
    let words = std::iter::once(command.as_std().get_program()).chain(command.as_std().get_args());
    let described = format!("running {}", words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" "));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().with_context(|| described.clone())?;
    if let Some(mut stdin) = child.stdin.take() {
        // It may end without reading it all; its exit status tells more than a broken pipe.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    let output = child.wait_with_output().await.with_context(|| described.clone())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [output.stdout, output.stderr].concat();
    bail!("{described}: {}: {}", output.status, String::from_utf8_lossy(&said).trim())
}
