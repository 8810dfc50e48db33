//! The Go compiler.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use super::module::go_version;

/// A Go compiler that is new enough.
#[derive(Debug, Clone)]
pub struct GoToolchain {
    version: String,
}

impl GoToolchain {
    /// Finds `go` in `PATH` and checks that it is new enough.
    pub fn find() -> anyhow::Result<Self> {
        let needed = go_version();
        let output = go().arg("version").stdin(Stdio::null()).output().with_context(|| {
            format!(
                "running `go version`. The control plane of the test bed is built from source: install Go {needed} or \
                 later (https://go.dev/dl/) and make sure that `go` is in PATH"
            )
        })?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`go version` failed: {}", said.trim());
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let is_enough = is_at_least(&version, needed);
        ensure!(
            is_enough.with_context(|| format!("`go version` answered {version:?}"))?,
            "`go version` says {version}, but Kubernetes needs Go {needed} or later; install it from \
             https://go.dev/dl/ (the test bed does not let Go download another compiler by itself)"
        );
        Ok(Self { version })
    }

    /// What `go version` says: version and platform, such as `go version go1.26.8 linux/amd64`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

/// `go` with the settings of every call: the installed compiler and no other.
pub(super) fn go() -> Command {
    let mut command = Command::new("go");
    command.env("GOTOOLCHAIN", "local").env("CGO_ENABLED", "0").env("GOFLAGS", "").env("GOWORK", "off");
    command
}

/// Whether `go version`'s answer names a version not older than `needed`; nothing if it names none. A development
/// build (`devel go1.27-…`) is named by the release it leads to.
fn is_at_least(answer: &str, needed: &str) -> Option<bool> {
    let found = answer.split_whitespace().find_map(|word| {
        let word = word.strip_prefix("go")?;
        word.starts_with(|first: char| first.is_ascii_digit()).then(|| numbers(word))
    })?;
    Some(found >= numbers(needed))
}

/// Major, minor and patch; what is missing or no number (`27-abcdef`, `26rc1`) counts by its leading digits.
fn numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split('.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, needed: &str, expected: Option<bool>) {
        assert_eq!(is_at_least(answer, needed), expected, "{answer} against {needed}");
    }

    #[test]
    fn versions_compare_by_number() {
        check("go version go1.26.8 linux/amd64", "1.26.0", Some(true));
        check("go version go1.26 linux/amd64", "1.26.0", Some(true));
        check("go version go1.100.0 darwin/arm64", "1.26.0", Some(true));
        check("go version go1.25.9 linux/amd64", "1.26.0", Some(false));
        check("go version go1.9 linux/amd64", "1.26.0", Some(false));
        check("go version devel go1.27-abcdef Mon Jan 1 linux/amd64", "1.26.0", Some(true));
        check("go: command not found", "1.26.0", None);
    }
}
