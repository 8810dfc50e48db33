//! One write of one object, as data.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::api::PropagationPolicy;
use quotient_crds::{QueueJobStatus, QueueStatus};
use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, OwnerUid, QueueName, QueueUid};
use quotient_engine::plan::{Eviction, PodId, QueueJobName, QuotaWrite, Scaling, Stage};
use quotient_engine::snapshot::{Owner, OwnerKind};
use quotient_engine::time::Timestamp;
use quotient_index::ResourceVersion;
use serde_json::Value;

use super::{Kind, Outcome};
use crate::rights::Feature;

/// One write of one object.
pub(crate) struct Operation {
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// What is written.
    pub(crate) object: Object,
    /// Which life and version of the object; none for one that is created.
    pub(crate) life: Option<Life>,
    /// What is asked for.
    pub(crate) request: Request,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) namespace: Namespace,
    pub(crate) name: Arc<str>,
}

/// `Pod team-a/web-0`.
impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name } = self;
        write!(formatter, "{kind:?} {namespace}/{name}")
    }
}

impl Object {
    /// That of this kind and name in `namespace`.
    pub(crate) fn new(kind: Kind, namespace: &Namespace, name: impl Into<Arc<str>>) -> Self {
        Self { kind, namespace: namespace.clone(), name: name.into() }
    }
}

/// The precondition of an operation: it lands on this life of the object and on no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) uid: Arc<str>,
    /// Where the version matters as well.
    pub(crate) resource_version: Option<String>,
}

impl Life {
    /// Any version of this life.
    pub(crate) fn of(uid: &str) -> Self {
        Self { uid: uid.into(), resource_version: None }
    }

    /// This version of this life, if the version is known.
    pub(crate) fn at(uid: &str, version: Option<&ResourceVersion>) -> Self {
        Self { uid: uid.into(), resource_version: version.map(|version| version.as_str().to_owned()) }
    }
}

/// What is asked for. The executor adds the precondition where a request of its kind has it.
pub(crate) enum Request {
    /// Create the object.
    Create(Value),
    /// A merge patch.
    Merge(Value),
    /// A merge patch of the status.
    MergeStatus(Value),
    /// This status in the place of any other.
    ReplaceStatus(Value),
    /// A JSON patch. The operations are written as JSON: the types of the crate `json-patch` need more lines to say the same.
    Patch(Vec<Value>),
    /// Delete the object.
    Delete(Option<PropagationPolicy>),
    /// Evict the pod, with this grace or with its own.
    Evict(Option<u32>),
    /// Read an object first: what is asked for depends on it.
    Read(Object, Prepare),
    /// Nothing: what the operation needs is missing, and this is said of it.
    Impossible(String),
}

/// Makes a request of the text of an object. An error says why the object is not as it was when the operation was decided on.
pub(crate) type Prepare = Box<dyn FnOnce(&str) -> Prepared + Send>;

/// A request with its precondition, or what becomes of the operation without one.
pub(crate) type Prepared = Result<(Life, Request), Outcome>;

/// What an operation is for, with what its outcome is told by.
#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    /// The share of a queue is enforced.
    Quota { queue: QueueName, write: QuotaWrite, before: Option<Bounds> },
    /// Containers that state no requests get these. The LimitRange that there is may lack its owner.
    LimitRange { queue: QueueName, uid: QueueUid, defaults: Bounds, lacks_owner: bool },
    /// kube-controller-manager counts what a quota charges again. The second of two writes removes what the first added.
    UsageResync { namespace: Namespace, is_second: bool },
    /// A controller tries again to create rejected pods.
    Requeue(Requeue),
    /// A running pod terminates, or a terminating one gets less grace.
    Eviction { eviction: Box<Eviction>, queue: Option<QueueUid>, started: Option<Timestamp> },
    /// The scheduler may place a pod.
    Gate(PodId),
    /// The controller of a pod deletes it first, or not any more.
    Mark { scaling: Arc<Scaling>, pod: PodId, is_set: bool },
    /// A workload has another size.
    Size(Arc<Scaling>),
    /// A task of a QueueJob has its Job. Those that free room come first.
    Job { name: QueueJobName, frees: bool },
    /// A QueueJob that has been finished for long enough is gone.
    Expiry(QueueJobName),
    /// The status of a QueueJob says what was decided.
    JobStatus { name: QueueJobName, wanted: Box<QueueJobStatus> },
    /// The status of a Queue says what was decided.
    Status { queue: QueueName, uid: QueueUid, wanted: Box<QueueStatus> },
}

/// Whether the pod is terminating already, and only gets less grace.
pub(crate) fn shortens_grace(eviction: &Eviction) -> bool {
    eviction.stage == Stage::Terminating
}

/// One life of a controller that is to look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requeue {
    pub(crate) namespace: Namespace,
    pub(crate) kind: OwnerKind,
    pub(crate) name: Arc<str>,
    pub(crate) uid: OwnerUid,
}

impl Requeue {
    pub(crate) fn of(namespace: &Namespace, Owner { kind, name, uid, .. }: &Owner) -> Self {
        Self { namespace: namespace.clone(), kind: *kind, name: Arc::clone(name), uid: uid.clone() }
    }
}

/// Operations of one class share their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    LimitRange,
    Quota,
    UsageResync,
    Gate,
    Eviction,
    Requeue,
    Scaling,
    QueueJob,
    JobStatus,
    Status,
}

/// A class, or a part of one: its operations share their slots.
pub(crate) type Lane = (Class, Option<Namespace>);

/// What fails as one: while an operation on it is put off, others on it are, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) class: Class,
    namespace: Namespace,
    /// A name, or the uid of what may have a successor under its name.
    id: Arc<str>,
}

impl Key {
    /// Operations of `class` on what has this name or uid.
    pub(crate) fn new(class: Class, namespace: &Namespace, id: &str) -> Self {
        Self { class, namespace: namespace.clone(), id: id.into() }
    }

    /// The lane in which its operations wait for a slot. Evictions that hang (a webhook, a budget that other clients write) take
    /// no slot from another namespace.
    pub(crate) fn lane(&self) -> Lane {
        (self.class, (self.class == Class::Eviction).then(|| self.namespace.clone()))
    }

    /// The Queue that it names, of a class whose operations are by Queue.
    pub(crate) fn queue(&self) -> QueueName {
        QueueName::new(self.namespace.clone(), Arc::clone(&self.id))
    }
}

impl Purpose {
    /// What fails as one with it.
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Quota { queue, .. } => Key::new(Class::Quota, &queue.namespace, &queue.name),
            Self::LimitRange { queue, .. } => Key::new(Class::LimitRange, &queue.namespace, ""),
            Self::UsageResync { namespace, .. } => Key::new(Class::UsageResync, namespace, ""),
            Self::Requeue(of) => Key::new(Class::Requeue, &of.namespace, of.uid.as_str()),
            Self::Eviction { eviction, .. } => {
                Key::new(Class::Eviction, &eviction.pod.namespace, eviction.pod.uid.as_str())
            }
            Self::Gate(pod) => Key::new(Class::Gate, &pod.namespace, pod.uid.as_str()),
            Self::Mark { scaling, .. } | Self::Size(scaling) => {
                Key::new(Class::Scaling, &scaling.queue.namespace, scaling.scale_target.uid.as_str())
            }
            Self::Job { name, .. } | Self::Expiry(name) => {
                Key::new(Class::QueueJob, &name.namespace, &name.name)
            }
            Self::JobStatus { name, .. } => Key::new(Class::JobStatus, &name.namespace, &name.name),
            Self::Status { queue, .. } => Key::new(Class::Status, &queue.namespace, &queue.name),
        }
    }

    /// What metrics call the write.
    pub(crate) const fn metric(&self) -> &'static str {
        match self {
            Self::Quota { .. } => "resourcequota",
            Self::LimitRange { .. } => "limitrange",
            Self::UsageResync { .. } => "usage_resync",
            Self::Requeue(_) => "requeue",
            Self::Eviction { .. } => "eviction",
            Self::Gate(_) => "scheduling_gate",
            Self::Mark { .. } => "pod_mark",
            Self::Size(_) => "scale",
            Self::Job { .. } => "job",
            Self::Expiry(_) => "queuejob",
            Self::JobStatus { .. } => "queuejob_status",
            Self::Status { .. } => "queue_status",
        }
    }

    /// What the operator has the right to only if an administrator grants it.
    pub(crate) const fn feature(&self) -> Option<Feature> {
        match self {
            Self::Mark { .. } => Some(Feature::PatchPods),
            Self::Size(_) => Some(Feature::ScaleWorkloads),
            Self::Job { .. } | Self::Expiry(_) => Some(Feature::CreateJobs),
            _ => None,
        }
    }

    /// Whether it is begun only after those of its class that come first have ended: what frees room comes before what needs
    /// room.
    pub(crate) const fn comes_second(&self) -> bool {
        match self {
            Self::Quota { write, .. } => !write.lowers,
            Self::Job { frees, .. } => !*frees,
            Self::UsageResync { is_second, .. } => *is_second,
            _ => false,
        }
    }

    /// How long one call may take. The API server repeats conflicts on a disruption budget for about ten seconds itself.
    pub(crate) const fn timeout(&self) -> Duration {
        match self {
            Self::Eviction { .. } => Duration::from_secs(12),
            _ => Duration::from_secs(5),
        }
    }
}

impl Class {
    /// Whether an operation that failed is put off. Evictions have rules of their own; nothing depends on a requeue or on a
    /// resync of usage.
    pub(crate) const fn is_retried(self) -> bool {
        !matches!(self, Self::Eviction | Self::UsageResync | Self::Requeue | Self::JobStatus)
    }

    /// Whether its operations may stay under way when a cycle ends.
    pub(crate) const fn may_stay_under_way(self) -> bool {
        matches!(self, Self::Eviction)
    }

    /// Whether a cycle begins its operations for a short time only.
    pub(crate) const fn is_bounded_in_time(self) -> bool {
        matches!(self, Self::Eviction | Self::Gate)
    }
}

impl Operation {
    /// One on this life of a pod and on no other.
    pub(crate) fn on_pod(purpose: Purpose, pod: &PodId, request: Request) -> Self {
        let object = Object::new(Kind::Pod, &pod.namespace, pod.name.as_str());
        Self { purpose, object, life: Some(Life::of(pod.uid.as_str())), request }
    }
}
