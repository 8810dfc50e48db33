//! The program as tests run it, and the files of the repository.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The text of a file of the repository.
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The program with these words, in the folder of the repository, and with no cluster of the person who runs the tests.
pub(crate) fn command<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-quotient"));
    command.env("KUBECONFIG", "/nonexistent").env_remove("KUBERNETES_SERVICE_HOST");
    command.args(words).current_dir(root());
    command
}

/// What it prints if it answers, with or without a finding.
pub(crate) fn printed<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let mut command = command(words);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{command:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// What `--help` prints behind these words.
pub(crate) fn help(words: &[&str]) -> String {
    printed(words.iter().chain(&["--help"]))
}

/// The names of the commands.
pub(crate) fn commands() -> Vec<String> {
    let overview = help(&[]);
    let listed = overview.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<String> =
        names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect();
    assert!(names.len() > 10, "{names:?}");
    names
}
