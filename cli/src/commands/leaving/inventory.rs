//! What Quotient has written into namespaces, and what of it stays when its Queues are deleted.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use quotient_crds::Queue;
use quotient_crds::names::{LIMIT_RANGE, QUOTA, REPLICAS_BEFORE_ANNOTATION, SHARE_GATE};

use crate::manifests::Cluster;
use crate::objects::{Object, is_ours};

/// What is there of Quotient.
#[derive(Debug, Default)]
pub(super) struct Inventory<'a> {
    pub(super) queues: Vec<&'a Queue>,
    /// The quotas and LimitRanges that go with their Queue.
    pub(super) owned: usize,
    pub(super) queue_jobs: usize,
    /// How many pods are gated, by namespace.
    pub(super) gated: BTreeMap<String, usize>,
    /// What stays.
    pub(super) leftovers: Vec<Leftover>,
}

/// Something that stays when the Queues are gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Leftover {
    pub(super) namespace: String,
    /// `ResourceQuota quotient`.
    pub(super) object: String,
    pub(super) why: String,
    /// The command that helps.
    pub(super) fix: String,
}

impl<'a> Inventory<'a> {
    /// That of one namespace, or of all.
    pub(super) fn of(cluster: &'a Cluster, namespace: Option<&str>) -> Self {
        let mut inventory = Self::default();
        let is_here = |object: &&Object| {
            namespace.is_none_or(|namespace| object.metadata().namespace.as_deref() == Some(namespace))
        };
        for object in cluster.objects.iter().filter(is_here) {
            inventory.add(object);
        }
        inventory.leftovers.sort();
        inventory
    }

    fn add(&mut self, object: &'a Object) {
        match object {
            Object::Queue(queue) => self.queues.push(queue),
            Object::Pod(pod) if is_gated(pod) => {
                let count = self.gated.entry(object.namespace().to_owned()).or_default();
                *count = count.saturating_add(1);
            }
            Object::QueueJob(_) => self.queue_jobs = self.queue_jobs.saturating_add(1),
            Object::ResourceQuota(_) if object.name() == QUOTA => self.add_owned(object),
            Object::LimitRange(_) if object.name() == LIMIT_RANGE => self.add_owned(object),
            // A ReplicaSet of a Deployment follows it.
            Object::ReplicaSet(_) if object.controller().is_some() => {}
            Object::Deployment(_) | Object::ReplicaSet(_) | Object::StatefulSet(_) | Object::Job(_) => {
                self.add_lowered(object);
            }
            _ => {}
        }
    }

    fn add_owned(&mut self, object: &Object) {
        let metadata = object.metadata();
        if !is_ours(metadata) {
            return;
        }
        let mut owners = metadata.owner_references.iter().flatten();
        if owners.any(|owner| owner.kind == "Queue") {
            self.owned = self.owned.saturating_add(1);
            return;
        }
        let (kind, namespace, name) = (object.kind().name(), object.namespace(), object.name());
        self.leftovers.push(Leftover {
            namespace: namespace.to_owned(),
            object: format!("{kind} {name}"),
            why: "no Queue owns it, so garbage collection does not delete it".to_owned(),
            fix: format!("kubectl -n {namespace} delete {} {name}", kind.to_lowercase()),
        });
    }

    fn add_lowered(&mut self, object: &Object) {
        let annotations = object.metadata().annotations.as_ref();
        let Some(before) = annotations.and_then(|all| all.get(REPLICAS_BEFORE_ANNOTATION)) else { return };
        self.leftovers.push(Leftover {
            namespace: object.namespace().to_owned(),
            object: format!("{} {}", object.kind().name(), object.name()),
            why: format!("Quotient lowered its size from {before} for pods of a higher priority"),
            fix: "set preemption: Never in the Queue and wait until the size is restored".to_owned(),
        });
    }
}

fn is_gated(pod: &Pod) -> bool {
    let gates = pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_deref()).unwrap_or_default();
    gates.iter().any(|gate| gate.name == SHARE_GATE)
}
