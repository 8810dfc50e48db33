//! The Go compiler.

use std::process::{Command, Stdio};

use super::module::go_version;

/// Why there is no usable Go compiler.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// There is no `go` in `PATH`.
    #[error(
        "finding the Go compiler: there is no `go` in PATH. The control plane of the test bed is built from \
         source: install Go {needed} or later (https://go.dev/dl/) and make sure `go version` works"
    )]
    Missing {
        /// The oldest version that will do.
        needed: &'static str,
    },
    /// `go version` did not answer as it should.
    #[error("asking the Go compiler for its version: `go version` {problem}")]
    Unusable {
        /// What happened instead.
        problem: String,
    },
    /// The Go compiler is older than `go.mod` allows.
    #[error(
        "checking the Go compiler: `go version` says {found}, but Kubernetes needs Go {needed} or later; \
         install it from https://go.dev/dl/ (the test bed does not let Go download another compiler by itself)"
    )]
    TooOld {
        /// What was found.
        found: String,
        /// The oldest version that will do.
        needed: &'static str,
    },
}

/// A Go compiler that is new enough.
#[derive(Debug, Clone)]
pub struct GoToolchain {
    version: String,
}

impl GoToolchain {
    /// Finds `go` in `PATH` and checks that it is new enough.
    pub fn find() -> Result<Self, ToolchainError> {
        let needed = go_version();
        let output = go().arg("version").stdin(Stdio::null()).output().map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                ToolchainError::Missing { needed }
            } else {
                ToolchainError::Unusable { problem: format!("cannot be run: {error}") }
            }
        })?;
        if !output.status.success() {
            let problem = format!("failed: {}", String::from_utf8_lossy(&output.stderr).trim());
            return Err(ToolchainError::Unusable { problem });
        }
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match is_at_least(&version, needed) {
            Some(true) => Ok(Self { version }),
            Some(false) => Err(ToolchainError::TooOld { found: version, needed }),
            None => Err(ToolchainError::Unusable { problem: format!("answered {version:?}") }),
        }
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
