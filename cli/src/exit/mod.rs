//! How a command ends: its exit code, and what stands on standard error.

mod cluster_error;

use std::process::ExitCode;

use crate::manifests::Problems;

pub(crate) use cluster_error::ClusterError;

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing that a person has to do.
    Fine,
    /// Something that a person has to know: the exit code is 1.
    Finding,
}

impl Outcome {
    /// A finding if `is_finding`.
    pub(crate) const fn of(is_finding: bool) -> Self {
        if is_finding { Self::Finding } else { Self::Fine }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Finding => Self::from(1),
        }
    }
}

/// Why a command could not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The input is not understood.
    #[error(transparent)]
    Input(#[from] Problems),
    /// The command line makes no sense as a whole, or names an object or a file that cannot be read.
    #[error("{0}")]
    Usage(String),
    /// The cluster does not answer, or does not permit a call.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The state that `--wait` waits for did not come.
    #[error("wait: {0}")]
    TimedOut(String),
    /// The answer could not be written.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.into())
    }
}

impl CommandError {
    /// 2 for what the user wrote, 3 for the cluster, 4 for a wait that ended without success, 1 for the rest.
    pub(crate) const fn code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Usage(_) => 2,
            Self::Cluster(_) => 3,
            Self::TimedOut(_) => 4,
            Self::Other(_) => 1,
        }
    }

    /// The text for standard error.
    pub(crate) fn text(&self) -> String {
        match self {
            // Each problem has its own prefix.
            Self::Input(problems) => problems.to_string(),
            other => format!("error: {other}"),
        }
    }
}
