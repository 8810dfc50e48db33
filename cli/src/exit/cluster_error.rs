//! Why the cluster gave no answer.

use quotient_operator::answer::said;

use crate::snapshot::Missing;

/// Why the cluster gave no answer; names the verb and the resource.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    /// There is no usable kubeconfig.
    #[error("find the cluster: {0}")]
    Config(String),
    /// The API server does not answer, or not in time.
    #[error("{verb} {resource}: the API server does not answer: {reason}")]
    Unreachable { verb: &'static str, resource: String, reason: String },
    /// The user may not do that.
    #[error("{verb} {}: forbidden: {message}", placed(.resource, .namespace.as_deref()))]
    Forbidden { verb: &'static str, resource: String, namespace: Option<String>, message: String },
    /// The user may not list what the answer depends on.
    #[error(
        "list {0}: forbidden, and the answer depends on it; ask for a snapshot: kubectl quotient snapshot"
    )]
    Missing(String),
    /// There is no such object.
    #[error("{verb} {resource}: {message}")]
    NotFound { verb: &'static str, resource: String, message: String },
    /// The API server refuses the call for another reason.
    #[error("{verb} {resource}: {message}")]
    Refused { verb: &'static str, resource: String, message: String },
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
    pub(crate) fn of(
        error: kube::Error,
        verb: &'static str,
        resource: &str,
        namespace: Option<&str>,
    ) -> Self {
        let resource = resource.to_owned();
        match error {
            kube::Error::Api(status) => {
                let message = said(&status);
                match status.code {
                    // Without the right to impersonate there is no answer at all.
                    403 if !message.contains("cannot impersonate") => {
                        Self::Forbidden { verb, resource, namespace: namespace.map(str::to_owned), message }
                    }
                    404 => Self::NotFound { verb, resource, message },
                    _ => Self::Refused { verb, resource, message },
                }
            }
            other => Self::Unreachable { verb, resource, reason: causes(&other) },
        }
    }

    /// Another server refuses the call.
    pub(crate) fn refused(verb: &'static str, resource: &str, message: String) -> Self {
        Self::Refused { verb, resource: resource.to_owned(), message }
    }

    /// An error if there are lists that are refused, and without which there is no answer.
    pub(crate) fn missing<'m>(missing: impl Iterator<Item = &'m Missing>) -> Result<(), Self> {
        let named: Vec<String> =
            missing.map(|missing| placed(&missing.resource, missing.namespace.as_deref())).collect();
        if named.is_empty() { Ok(()) } else { Err(Self::Missing(named.join(", "))) }
    }

    /// Whether a right is missing.
    pub(crate) const fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden { .. })
    }

    /// Whether the object or its kind does not exist.
    pub(crate) const fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

/// The innermost cause says most.
fn causes(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
