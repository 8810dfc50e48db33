//! An owner: an object that creates pods from a template, and how many pods it wants.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Gang, Quota, Rejection, Shape, Size, Workload};
use crate::amounts::Resource;
use crate::names::OwnerUid;
use crate::time::Timestamp;

/// What the pods of an owner look like, and how many of them should be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its id for life, by which its pods name it.
    pub uid: OwnerUid,
    /// Its kind.
    pub kind: OwnerKind,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// Its `metadata.generation`: it changes with its spec.
    pub generation: i64,
    /// When it was created.
    pub created: Timestamp,
    /// How many pods it wants alive now: replicas, what is left of a Job within its
    /// parallelism, or the nodes that a DaemonSet selects.
    pub wanted: u32,
    /// What each of them requests.
    pub shape: Arc<Shape>,
    /// The gang that they will be members of.
    pub gang: Option<Gang>,
    /// Their priority.
    pub priority: i32,
    /// What says how many it wants, and whether that may be changed.
    pub size: Size,
    /// What controls it, and so is the workload that people know: a Deployment, a `CronJob`, a QueueJob, ….
    pub controller: Option<Arc<Workload>>,
    /// The API server's words for why it refuses its pods, for other reasons than the quota `quotient` being used up.
    pub rejected: Option<Arc<str>>,
    /// How many of its pods have succeeded; only Jobs say that.
    pub succeeded: u32,
    /// Whether pods of it have failed by themselves, and none has succeeded or was ever seen Ready; only Jobs say that.
    pub fails: bool,
    /// The resources that some container of its template names no request for, and that no LimitRange of the
    /// namespace gives a default for. Empty as well while that is not known.
    pub unspecified: Unspecified,
}

/// The resources that a quota demands a request for of every container, and that one of a template names none for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unspecified {
    /// Whether one names none for cpu.
    pub cpu: bool,
    /// Whether one names none for memory.
    pub memory: bool,
}

impl Unspecified {
    /// The resources, in order.
    pub fn resources(self) -> impl Iterator<Item = Resource> {
        let all = [(self.cpu, Resource::Cpu), (self.memory, Resource::Memory)];
        all.into_iter().filter(|(lacks, _)| *lacks).map(|(_, resource)| resource)
    }

    /// Whether every container names a request for both.
    pub const fn is_nothing(self) -> bool {
        !self.cpu && !self.memory
    }
}

impl Owner {
    /// The oldest first.
    pub fn by_age(one: &Self, other: &Self) -> Ordering {
        (one.created, &one.name, &one.uid).cmp(&(other.created, &other.name, &other.uid))
    }

    /// By priority, then age.
    pub fn by_importance(one: &Self, other: &Self) -> Ordering {
        other.priority.cmp(&one.priority).then_with(|| Self::by_age(one, other))
    }

    /// How many pods it would want if it had not been scaled down for others.
    pub fn rightful(&self) -> u32 {
        self.wanted.saturating_add(self.size.withheld_replicas)
    }

    /// What a ReplicaSet is a revision of; none for other kinds.
    pub fn deployment(&self) -> Option<&OwnerUid> {
        let controller = self.controller.as_ref().filter(|_| self.kind == OwnerKind::ReplicaSet)?;
        Some(&controller.uid)
    }

    /// The object that its pods name as their controller: of a task of a QueueJob its Job.
    pub fn as_named_by_pods(&self) -> Workload {
        let (api_version, kind) = match self.kind {
            OwnerKind::DaemonSet | OwnerKind::ReplicaSet | OwnerKind::StatefulSet => {
                ("apps/v1", self.kind.name())
            }
            OwnerKind::Job | OwnerKind::QueueJob => ("batch/v1", OwnerKind::Job.name()),
            OwnerKind::Configured(kind) => (kind.api_version, kind.name),
        };
        Workload {
            api_version: api_version.into(),
            kind: kind.into(),
            // The owner of a QueueJob's task is called QUEUEJOB/TASK, its Job QUEUEJOB-TASK.
            name: self.name.replace('/', "-").into(),
            uid: self.uid.clone(),
        }
    }

    /// Why admission refuses its pods whatever room there is beside `quota`, as far as that is known.
    pub fn rejection(&self, quota: Option<&Quota>) -> Option<Rejection> {
        if let Some(said) = &self.rejected {
            return Some(Rejection::ByServer(Arc::clone(said)));
        }
        let is_bounded =
            |resource: &Resource| quota.is_some_and(|quota| quota.enforced.get(resource).is_some());
        let lacking: Vec<Resource> = self.unspecified.resources().filter(is_bounded).collect();
        (!lacking.is_empty()).then_some(Rejection::Unspecified(lacking))
    }
}

/// The kinds of owners whose wishes are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OwnerKind {
    /// apps/v1 ReplicaSet, of a Deployment or by itself.
    #[default]
    ReplicaSet,
    /// apps/v1 StatefulSet.
    StatefulSet,
    /// batch/v1 Job.
    Job,
    /// A task of a QueueJob: what it wants is not what its Job may run.
    QueueJob,
    /// apps/v1 DaemonSet: one pod on every node that it selects.
    DaemonSet,
    /// A kind of the operator's setting `workloadKinds`.
    Configured(#[serde(with = "configured")] &'static ConfiguredKind),
}

/// A recorded kind. What is read of a record lives as long as the process, too, which answers one question about it.
mod configured {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::ConfiguredKind;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
    pub(super) fn serialize<S: Serializer>(
        kind: &&'static ConfiguredKind,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (kind.api_version, kind.name).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static ConfiguredKind, D::Error> {
        let (api_version, name) = <(String, String)>::deserialize(deserializer)?;
        let kind = ConfiguredKind { api_version: api_version.leak(), name: name.leak() };
        Ok(Box::leak(Box::new(kind)))
    }
}

/// A kind of objects that Quotient knows by configuration alone, such as `RayCluster`.
///
/// It lives as long as the process, which reads its settings once: so the kind of an owner is a copy of a reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfiguredKind {
    /// Its API version, such as `ray.io/v1`.
    pub api_version: &'static str,
    /// The kind as manifests name it.
    pub name: &'static str,
}

/// What stands for the controller of gated pods that no known owner wants: pods that no controller creates, and pods of
/// controllers of an unknown kind.
pub static GATED_PODS: ConfiguredKind = ConfiguredKind { api_version: "v1", name: "Pod" };

impl OwnerKind {
    /// The kind as manifests name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::Job => "Job",
            Self::QueueJob => "QueueJob",
            Self::DaemonSet => "DaemonSet",
            Self::Configured(kind) => kind.name,
        }
    }
}
