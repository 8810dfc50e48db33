//! The Go compiler.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, ensure};

/// What `go version` says: version and platform, such as `go version go1.26.8 linux/amd64`. Whether that is new enough
/// `go build` itself says. Go is asked once a process.
pub(super) fn version() -> anyhow::Result<String> {
    static VERSION: OnceLock<String> = OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(version.clone());
    }
    let version = asked()?;
    Ok(VERSION.get_or_init(|| version).clone())
}

fn asked() -> anyhow::Result<String> {
    let output = go().arg("version").stdin(Stdio::null()).output().context(
        "running `go version`. The control plane of the test bed is built from source: install Go \
         (https://go.dev/dl/), of the version that controlplane/go.mod names or later, and make sure that `go` is in PATH",
    )?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`go version` failed: {}", said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// `go` with the settings of every call: the installed compiler and no other. It collects garbage less often, which costs memory
/// and saves a fifth of the time of a build.
pub(super) fn go() -> Command {
    let mut command = Command::new("go");
    command.env("GOTOOLCHAIN", "local").env("CGO_ENABLED", "0").env("GOFLAGS", "").env("GOWORK", "off");
    command.env("GOGC", "400");
    command
}
