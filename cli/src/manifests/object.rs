//! One object of the input, typed.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, Pod, PodTemplateSpec, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use quotient_crds::{Queue, QueueJob};
use quotient_index::{Index, Keeps};

use super::known::Kind;
use super::pod_group::AnyPodGroup;

/// An object of a kind that is understood.
#[derive(Debug)]
pub(crate) enum Object {
    Namespace(Box<Namespace>),
    Node(Box<Node>),
    Pod(Box<Pod>),
    Deployment(Box<Deployment>),
    ReplicaSet(Box<ReplicaSet>),
    StatefulSet(Box<StatefulSet>),
    DaemonSet(Box<DaemonSet>),
    Job(Box<Job>),
    PodDisruptionBudget(Box<PodDisruptionBudget>),
    PriorityClass(Box<PriorityClass>),
    Queue(Box<Queue>),
    QueueJob(Box<QueueJob>),
    ResourceQuota(Box<ResourceQuota>),
    LimitRange(Box<LimitRange>),
    HorizontalPodAutoscaler(Box<HorizontalPodAutoscaler>),
    PodGroup(Box<AnyPodGroup>),
    /// No decision depends on it; it names the leader.
    Lease(Box<Lease>),
}

/// The same for whatever kind `$object` is of.
macro_rules! whatever_kind {
    ($self:expr, $object:ident => $same:expr, $group:expr) => {
        match $self {
            Self::Namespace($object) => $same,
            Self::Node($object) => $same,
            Self::Pod($object) => $same,
            Self::Deployment($object) => $same,
            Self::ReplicaSet($object) => $same,
            Self::StatefulSet($object) => $same,
            Self::DaemonSet($object) => $same,
            Self::Job($object) => $same,
            Self::PodDisruptionBudget($object) => $same,
            Self::PriorityClass($object) => $same,
            Self::Queue($object) => $same,
            Self::QueueJob($object) => $same,
            Self::ResourceQuota($object) => $same,
            Self::LimitRange($object) => $same,
            Self::HorizontalPodAutoscaler($object) => $same,
            Self::PodGroup($object) => $group,
            Self::Lease($object) => $same,
        }
    };
}

impl Object {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Namespace(_) => Kind::Namespace,
            Self::Node(_) => Kind::Node,
            Self::Pod(_) => Kind::Pod,
            Self::Deployment(_) => Kind::Deployment,
            Self::ReplicaSet(_) => Kind::ReplicaSet,
            Self::StatefulSet(_) => Kind::StatefulSet,
            Self::DaemonSet(_) => Kind::DaemonSet,
            Self::Job(_) => Kind::Job,
            Self::PodDisruptionBudget(_) => Kind::PodDisruptionBudget,
            Self::PriorityClass(_) => Kind::PriorityClass,
            Self::Queue(_) => Kind::Queue,
            Self::QueueJob(_) => Kind::QueueJob,
            Self::ResourceQuota(_) => Kind::ResourceQuota,
            Self::LimitRange(_) => Kind::LimitRange,
            Self::HorizontalPodAutoscaler(_) => Kind::HorizontalPodAutoscaler,
            Self::PodGroup(_) => Kind::PodGroup,
            Self::Lease(_) => Kind::Lease,
        }
    }

    pub(crate) fn metadata(&self) -> &ObjectMeta {
        whatever_kind!(self, object => &object.metadata, object.metadata())
    }

    pub(super) fn metadata_mut(&mut self) -> &mut ObjectMeta {
        whatever_kind!(self, object => &mut object.metadata, object.metadata_mut())
    }

    /// Its controller, if it names one.
    pub(crate) fn controller(&self) -> Option<&OwnerReference> {
        let mut owners = self.metadata().owner_references.iter().flatten();
        owners.find(|owner| owner.controller == Some(true))
    }

    /// What the pods look like that it creates; none for what creates no pods. A QueueJob's Jobs do that for it.
    pub(crate) fn template(&self) -> Option<&PodTemplateSpec> {
        match self {
            Self::Deployment(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            Self::ReplicaSet(owner) => owner.spec.as_ref().and_then(|spec| spec.template.as_ref()),
            Self::StatefulSet(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            Self::DaemonSet(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            Self::Job(owner) => owner.spec.as_ref().map(|spec| &spec.template),
            _ => None,
        }
    }

    /// Puts the object into the index. Of a Deployment only its size is kept there: its ReplicaSets stand for it.
    pub(super) fn apply_to(&self, index: &mut Index) {
        match self {
            Self::Namespace(object) => index.apply(&**object),
            Self::Node(object) => index.apply(&**object),
            Self::Pod(object) => index.apply(&**object),
            Self::Deployment(object) => index.apply(&**object),
            Self::ReplicaSet(object) => index.apply(&**object),
            Self::StatefulSet(object) => index.apply(&**object),
            Self::DaemonSet(object) => index.apply(&**object),
            Self::Job(object) => index.apply(&**object),
            Self::PodDisruptionBudget(object) => index.apply(&**object),
            Self::PriorityClass(object) => index.apply(&**object),
            Self::Queue(object) => index.apply(&**object),
            Self::QueueJob(object) => index.apply(&**object),
            Self::ResourceQuota(object) => index.apply(&**object),
            Self::LimitRange(object) => index.apply(&**object),
            Self::HorizontalPodAutoscaler(object) => index.apply(&**object),
            Self::PodGroup(object) => object.apply_to(index),
            Self::Lease(_) => false,
        };
    }
}
