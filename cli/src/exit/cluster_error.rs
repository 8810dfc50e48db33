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
    #[error("{verb} {resource}{}: forbidden: {message}", of_namespace(.namespace.as_deref()))]
    Forbidden { verb: &'static str, resource: String, namespace: Option<String>, message: String },
    /// There is no such object.
    #[error("{verb} {resource}: {message}")]
    NotFound { verb: &'static str, resource: String, message: String },
    /// The API server refuses the call for another reason.
    #[error("{verb} {resource}: {message}")]
    Refused { verb: &'static str, resource: String, message: String },
}

fn of_namespace(namespace: Option<&str>) -> String {
    namespace
        .map_or_else(|| " in all namespaces".to_owned(), |namespace| format!(" in namespace {namespace}"))
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
                    401 | 403 => {
                        Self::Forbidden { verb, resource, namespace: namespace.map(str::to_owned), message }
                    }
                    404 => Self::NotFound { verb, resource, message },
                    _ => Self::Refused { verb, resource, message },
                }
            }
            other => Self::Unreachable { verb, resource, reason: causes(&other) },
        }
    }

    /// A list that is refused or not served, and without which there is no answer.
    pub(crate) fn missing(missing: &Missing) -> Self {
        Self::Forbidden {
            verb: "list",
            resource: missing.resource.clone(),
            namespace: missing.namespace.clone(),
            message: "the answer depends on it; use a snapshot instead".to_owned(),
        }
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
