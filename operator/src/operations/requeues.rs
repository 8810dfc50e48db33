//! Requeues: the controller of rejected pods looks at once when there is room again.
//!
//! One annotation on its object makes a controller reconcile. A Deployment's controller copies its own annotations to its
//! ReplicaSet and leaves others there alone.
//!
//! A Job's controller reconciles at once only when the spec has changed; other changes it gathers for a second. So
//! `manualSelector` changes between absent and false as well, which mean the same and matter only when a Job is created.

use std::sync::Arc;

use quotient_crds::names::REQUEUED_ANNOTATION;
use quotient_engine::names::Namespace;
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::OwnerKind;
use serde_json::json;

use super::Observed;
use crate::executor::{Kind, Life, Object, Operation, Purpose, Request, Requeue};

/// The requeues of namespaces whose quotas are written.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let is_restrained = |namespace: &Namespace| {
        plan.leaves().any(|(name, queue)| name.namespace == *namespace && !queue.reach.writes_quotas())
    };
    let due = observed.requeues.iter().filter(|requeue| !is_restrained(&requeue.namespace));
    due.filter_map(|requeue| of(requeue, observed)).collect()
}

fn of(requeue: &Requeue, observed: &Observed<'_>) -> Option<Operation> {
    let Requeue { namespace, kind, name, uid } = requeue;
    // A task of a QueueJob is an owner in the engine and one Job in the cluster.
    let object = match kind {
        OwnerKind::QueueJob => name.replace('/', "-").into(),
        _ => Arc::clone(name),
    };
    let mut patch = json!({"metadata": {"annotations": {REQUEUED_ANNOTATION: observed.now.to_string()}}});
    let is_job = matches!(kind, OwnerKind::Job | OwnerKind::QueueJob);
    let other = observed.index.other_manual_selector(namespace, &object).filter(|_| is_job);
    // A Job that chooses its pods itself keeps saying so.
    if let Some(other) = other {
        patch.as_object_mut()?.insert("spec".to_owned(), json!({"manualSelector": other}));
    }
    Some(Operation {
        purpose: Purpose::Requeue(requeue.clone()),
        object: Object::new(Kind::of_owner(*kind)?, namespace, object),
        life: Some(Life::of(uid.as_str())),
        request: Request::Merge(patch),
    })
}
