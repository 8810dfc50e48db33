//! LimitRanges: what containers request that state no requests, so that no quota rejects them.

use std::collections::BTreeMap;

use quotient_crds::names::{LIMIT_RANGE, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT};
use quotient_engine::amounts::Bounds;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_index::limit_ranges::LimitRangeDue;
use serde_json::{Value, json};

use super::Observed;
use super::owning_queue::OwningQueue;
use crate::executor::{Kind, Life, Object, Operation, Purpose, Request};
use crate::message::texts;

/// What is to be done with the LimitRanges of namespaces whose quotas are written.
///
/// A LimitRange of another writer is never overwritten: what is not known to be there is created, and what is there is changed
/// only in the life in which it was seen. If that fails, the watch shows why.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let leaves = plan.leaves().filter(|(_, queue)| queue.reach.writes_quotas());
    let operation = |(name, queue): (&QueueName, &QueuePlan)| {
        let owner = OwningQueue { name, uid: &queue.uid };
        Some(of(owner, observed.index.limit_range_due(&name.namespace, &name.name)?))
    };
    leaves.filter_map(operation).collect()
}

fn of(queue: OwningQueue<'_>, due: LimitRangeDue) -> Operation {
    let defaults = due.defaults();
    let lacks_owner = matches!(due, LimitRangeDue::Change { disowned: true, .. });
    let (life, request) = match due {
        LimitRangeDue::Create(defaults) => (None, Request::Create(body(queue, &defaults))),
        LimitRangeDue::Change { uid, defaults, disowned } => {
            let mut patch = vec![json!({"op": "add", "path": "/spec/limits", "value": limits(&defaults)})];
            patch.extend(disowned.then(|| queue.own()));
            (Some(Life::of(&uid)), Request::Patch(patch))
        }
        LimitRangeDue::Delete { uid, resource_version } => {
            (Some(Life::at(&uid, resource_version.as_ref())), Request::Delete(None))
        }
        LimitRangeDue::Taken => (
            None,
            Request::Impossible(format!(
                "the namespace has a LimitRange named \"{LIMIT_RANGE}\" that Quotient does not keep; rename that one, or have it \
                 give the defaults"
            )),
        ),
    };
    let (name, uid) = (queue.name.clone(), queue.uid.clone());
    Operation {
        object: Object::new(Kind::LimitRange, &name.namespace, LIMIT_RANGE),
        purpose: Purpose::LimitRange { queue: name, uid, defaults, lacks_owner },
        life,
        request,
    }
}

fn body(queue: OwningQueue<'_>, defaults: &Bounds) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {
            "name": LIMIT_RANGE,
            "namespace": queue.name.namespace.as_str(),
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT},
            "ownerReferences": queue.references(),
        },
        "spec": {"limits": limits(defaults)},
    })
}

fn limits(defaults: &Bounds) -> Value {
    let requests: BTreeMap<String, String> = texts(defaults.iter());
    json!([{"type": "Container", "defaultRequest": requests}])
}
