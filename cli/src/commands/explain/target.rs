//! What is to be explained.

use std::fmt;

use crate::objects::Kind;

/// The kind that a user names as kubectl does, if it can be explained.
fn kind(text: &str) -> Option<Kind> {
    let text = text.to_lowercase();
    Some(match text.split('.').next().unwrap_or_default() {
        "po" | "pod" | "pods" => Kind::Pod,
        "deploy" | "deployment" | "deployments" => Kind::Deployment,
        "rs" | "replicaset" | "replicasets" => Kind::ReplicaSet,
        "sts" | "statefulset" | "statefulsets" => Kind::StatefulSet,
        "ds" | "daemonset" | "daemonsets" => Kind::DaemonSet,
        "job" | "jobs" => Kind::Job,
        "qtj" | "queuejob" | "queuejobs" => Kind::QueueJob,
        "qtq" | "queue" | "queues" => Kind::Queue,
        _ => return None,
    })
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) name: String,
}

impl Target {
    /// Reads `deploy/api`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').filter(|(_, name)| !name.is_empty());
        let target =
            parts.and_then(|(kind, name)| Some(Self { kind: self::kind(kind)?, name: name.to_owned() }));
        target.ok_or_else(|| {
            format!(
                "{text}: write KIND/NAME, such as pod/web-0; kinds are pod, deployment, replicaset, statefulset, daemonset, \
                 job, queuejob and queue"
            )
        })
    }
}

/// `Deployment api`.
impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind.name(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_short_names_of_kubectl() {
        let parsed = |text| Target::parse(text).map(|target| target.to_string());
        assert_eq!(parsed("deploy/api").as_deref(), Ok("Deployment api"));
        assert_eq!(parsed("Jobs.batch/train").as_deref(), Ok("Job train"));
        assert_eq!(parsed("queue/ml-dev").as_deref(), Ok("Queue ml-dev"));
        for wrong in ["api", "service/api", "pod/"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
    }
}
