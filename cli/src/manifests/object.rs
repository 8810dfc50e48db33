//! One object of the input, typed.

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use quotient_crds::{Preemption, Queue, QueueSpec, names};
use quotient_engine::snapshot;
use quotient_index::{Index, Keeps, UnreadableQuantity, nodes, pods, queues, quotas};

/// An object of a kind that is understood.
#[derive(Debug)]
pub(super) enum Object {
    Namespace(Box<Namespace>),
    Node(Box<Node>),
    Pod(Box<Pod>),
    Queue(Box<Queue>),
    ResourceQuota(Box<ResourceQuota>),
}

impl Object {
    pub(super) fn metadata_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Namespace(namespace) => &mut namespace.metadata,
            Self::Node(node) => &mut node.metadata,
            Self::Pod(pod) => &mut pod.metadata,
            Self::Queue(queue) => &mut queue.metadata,
            Self::ResourceQuota(quota) => &mut quota.metadata,
        }
    }

    /// What is wrong with its amounts.
    pub(super) fn mistakes(&self) -> Vec<String> {
        match self {
            Self::Namespace(_) => Vec::new(),
            Self::Node(node) => texts(&nodes::unreadable(node)),
            Self::Pod(pod) => texts(&pods::unreadable(pod)),
            Self::Queue(queue) => {
                let snapshot::Queue { invalid, .. } = queues::decode(queue);
                invalid.iter().map(ToString::to_string).collect()
            }
            Self::ResourceQuota(quota) => texts(&quotas::unreadable(quota)),
        }
    }

    /// What is understood but makes no difference, though its author may think that it does.
    pub(super) fn futility(&self) -> Option<&'static str> {
        match self {
            Self::Node(node) if !has_room(node) => {
                Some("it has no room: give it status.allocatable, such as {cpu: 8, memory: 32Gi}")
            }
            Self::ResourceQuota(quota) if quota.metadata.name.as_deref() != Some(names::QUOTA) => {
                Some("ignored: of ResourceQuotas only those named \"quotient\" count")
            }
            Self::Queue(queue) if queue.spec.children.is_some() => futility_of_parent(&queue.spec),
            _ => None,
        }
    }

    /// Puts the object into the index.
    pub(super) fn apply_to(&self, index: &mut Index) {
        match self {
            Self::Namespace(namespace) => index.apply(&**namespace),
            Self::Node(node) => index.apply(&**node),
            Self::Pod(pod) => index.apply(&**pod),
            Self::Queue(queue) => index.apply(&**queue),
            Self::ResourceQuota(quota) => index.apply(&**quota),
        };
    }
}

fn texts(unreadable: &[UnreadableQuantity]) -> Vec<String> {
    unreadable.iter().map(ToString::to_string).collect()
}

fn futility_of_parent(spec: &QueueSpec) -> Option<&'static str> {
    let default = Preemption::default();
    let preemption = spec.preemption.as_ref().unwrap_or(&default);
    if spec.request.is_some() {
        return Some("its request is ignored: a parent queue asks for what its children ask for");
    }
    let last_replica = preemption.last_replica != default.last_replica;
    (last_replica || preemption.min_runtime_seconds != default.min_runtime_seconds).then_some(
        "its preemption.lastReplica and minRuntimeSeconds are ignored: a parent queue has no pods, and its \
         children do not inherit them",
    )
}

fn has_room(node: &Node) -> bool {
    let status = node.status.as_ref();
    status.is_some_and(|status| status.allocatable.is_some() || status.capacity.is_some())
}
