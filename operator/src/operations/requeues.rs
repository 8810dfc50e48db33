//! Requeues: the controller of rejected pods looks at once when there is room again.
//!
//! One annotation on its object makes a controller reconcile. A Job's controller does so within a second, because it gathers
//! changes that are none of its spec. A Deployment's controller copies its own annotations to its ReplicaSet and leaves others
//! there alone.

use std::sync::Arc;

use quotient_crds::names::NUDGED_ANNOTATION;
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::{Owner, OwnerKind};
use serde_json::json;

use super::Observed;
use crate::executor::{Kind, Life, Object, Operation, Purpose, Request};

/// One life of a controller that is to look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requeue {
    namespace: Namespace,
    kind: OwnerKind,
    name: Arc<str>,
    uid: OwnerUid,
}

impl Requeue {
    pub(crate) fn of(namespace: &Namespace, owner: &Owner) -> Self {
        Self {
            namespace: namespace.clone(),
            kind: owner.kind,
            name: Arc::clone(&owner.name),
            uid: owner.uid.clone(),
        }
    }
}

/// The requeues of namespaces whose quotas are written.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let is_restrained = |namespace: &Namespace| {
        let mut queues =
            plan.queues.iter().filter(|(name, queue)| !queue.is_parent && name.namespace == *namespace);
        queues.any(|(_, queue)| !queue.reach.writes_quotas())
    };
    let due = observed.requeues.iter().filter(|requeue| !is_restrained(&requeue.namespace));
    due.filter_map(|requeue| of(requeue, observed)).collect()
}

fn of(Requeue { namespace, kind, name, uid }: &Requeue, observed: &Observed<'_>) -> Option<Operation> {
    // A task of a QueueJob is an owner in the engine and one Job in the cluster.
    let object = match kind {
        OwnerKind::QueueJob => name.replace('/', "-").into(),
        _ => Arc::clone(name),
    };
    Some(Operation {
        purpose: Purpose::Requeue {
            namespace: namespace.clone(),
            kind: *kind,
            name: Arc::clone(name),
            uid: uid.clone(),
        },
        object: Object { kind: Kind::of_owner(*kind)?, namespace: namespace.clone(), name: object },
        life: Some(Life::of(uid.as_str())),
        request: Request::Merge(json!({
            "metadata": {"annotations": {NUDGED_ANNOTATION: observed.now.to_string()}},
        })),
    })
}
