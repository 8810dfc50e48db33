//! How a command ends: its exit code, and what stands on standard error.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use quotient_operator::answer::said;

use crate::manifests::Problems;
use crate::output::list;
use crate::snapshot::{Missing, Snapshot};

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

/// What a text says against is what the user wrote.
impl From<String> for CommandError {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
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

/// Why the cluster gave no answer; names the verb and the resource.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// The user may not do that.
    #[error("{0}")]
    Forbidden(String),
    /// There is no such object.
    #[error("{0}")]
    NotFound(String),
    /// The API server does not serve Quotient's kinds.
    #[error("Quotient's kinds are not installed, so there are no Queues; see: kubectl quotient check --pre")]
    NotInstalled,
    /// There is no usable kubeconfig, no answer in time, or the call is refused for another reason.
    #[error("{0}")]
    Other(String),
}

/// Resources that are in no namespace, as far as commands read them.
const OF_CLUSTER: [&str; 4] = ["nodes", "namespaces", "priorityclasses", "the version"];

/// `pods in namespace team-a`.
fn placed(resource: &str, namespace: Option<&str>) -> String {
    match namespace {
        _ if OF_CLUSTER.contains(&resource.split('.').next().unwrap_or_default()) => resource.to_owned(),
        Some(namespace) => format!("{resource} in namespace {namespace}"),
        None => format!("{resource} in all namespaces"),
    }
}

impl ClusterError {
    /// What became of one call.
    pub(crate) fn of(error: kube::Error, verb: &str, resource: &str, namespace: Option<&str>) -> Self {
        let kube::Error::Api(status) = error else {
            let reason = causes(&error);
            return Self::Other(format!("{verb} {resource}: the API server does not answer: {reason}"));
        };
        let message = said(&status);
        match status.code {
            // Without the right to impersonate there is no answer at all.
            403 if !message.contains("cannot impersonate") => {
                Self::Forbidden(format!("{verb} {}: forbidden: {message}", placed(resource, namespace)))
            }
            404 => Self::NotFound(format!("{verb} {resource}: {message}")),
            _ => Self::Other(format!("{verb} {resource}: {message}")),
        }
    }

    /// The cluster is not found.
    pub(crate) fn config(error: impl fmt::Display) -> Self {
        // The library quotes a path twice.
        let error = error.to_string().replace("'\"", "").replace("\"'", "");
        Self::Other(format!("find the cluster: {error}"))
    }

    /// An error if there are lists that are refused, and without which there is no answer.
    pub(crate) fn missing<'m>(missing: impl Iterator<Item = &'m Missing>) -> Result<(), Self> {
        let named = list(missing.map(|missing| placed(&missing.resource, missing.namespace.as_deref())));
        if named.is_empty() {
            return Ok(());
        }
        Err(Self::Other(format!(
            "list {named}: forbidden, and the answer depends on it; let an administrator write a snapshot: kubectl quotient snapshot"
        )))
    }

    /// An error if the API server does not serve Queues, for an answer that is about them.
    pub(crate) fn require_kinds(snapshot: &Snapshot) -> Result<(), Self> {
        if snapshot.not_served.contains(&"queues") { Err(Self::NotInstalled) } else { Ok(()) }
    }

    /// An error that names the rights to list these resources, if one of them is missing.
    pub(crate) fn require(missing: &[Missing], plurals: &[&str]) -> Result<(), Self> {
        let is_required =
            |missing: &&Missing| plurals.contains(&missing.resource.split('.').next().unwrap_or_default());
        Self::missing(missing.iter().filter(is_required))
    }

    /// Whether a right is missing.
    pub(crate) const fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden(_))
    }

    /// Whether the object or its kind does not exist.
    pub(crate) const fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound(_))
    }
}

/// The innermost cause says most.
fn causes(error: &(dyn Error + 'static)) -> String {
    let innermost = std::iter::successors(Some(error), |&error| error.source()).last();
    innermost.map(ToString::to_string).unwrap_or_default()
}
