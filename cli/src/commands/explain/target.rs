//! What is to be explained.

use std::fmt;

/// A kind that can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TargetKind {
    Pod,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    QueueJob,
    Queue,
}

impl TargetKind {
    /// The kind as manifests name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pod => "Pod",
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::QueueJob => "QueueJob",
            Self::Queue => "Queue",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        Some(match text.split('.').next().unwrap_or_default() {
            "po" | "pod" | "pods" => Self::Pod,
            "deploy" | "deployment" | "deployments" => Self::Deployment,
            "rs" | "replicaset" | "replicasets" => Self::ReplicaSet,
            "sts" | "statefulset" | "statefulsets" => Self::StatefulSet,
            "ds" | "daemonset" | "daemonsets" => Self::DaemonSet,
            "job" | "jobs" => Self::Job,
            "qtj" | "queuejob" | "queuejobs" => Self::QueueJob,
            "qtq" | "queue" | "queues" => Self::Queue,
            _ => return None,
        })
    }
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) name: String,
}

impl Target {
    /// Reads `deploy/api`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').filter(|(_, name)| !name.is_empty());
        let target = parts
            .and_then(|(kind, name)| Some(Self { kind: TargetKind::parse(kind)?, name: name.to_owned() }));
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
