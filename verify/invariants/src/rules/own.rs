//! The operator keeps to its own.

use serde_json::Value;

use crate::cluster_state::SHARE_GATE;
use crate::violation::Invariant;
use crate::write::{Verb, Write};

/// The one annotation that it sets on owners at any time.
const REQUEUED: &str = "quotient.dev/requeued-at";

/// The size that an owner had before it was lowered.
const BEFORE: &str = "quotient.dev/replicas-before";

/// The size that it was lowered to.
const LOWERED: &str = "quotient.dev/replicas-lowered-to";

/// The one annotation that it sets on pods, and the one value.
const DELETION_COST: (&str, &str) = ("controller.kubernetes.io/pod-deletion-cost", "-2147483648");

/// The promises that a write breaks, whatever the cluster looks like but for whether the namespace is in Gate mode, or was a
/// moment ago.
pub(crate) fn broken(write: &Write<'_>, is_in_gate_mode: bool) -> Vec<(Invariant, String)> {
    if !write.by_operator {
        return Vec::new();
    }
    let Write { verb, resource, subresource, namespace, name, .. } = write;
    let said = format!("{verb:?} {resource}/{subresource} {namespace}/{name}");
    if *resource == "pods" && *subresource != "eviction" {
        let is_mark = subresource.is_empty()
            && *verb == Verb::Update
            && (is_only_a_mark(write) || is_only_a_gate(write));
        return if is_mark { Vec::new() } else { vec![(Invariant::Gentle, said)] };
    }
    let is_own = match (*resource, *subresource) {
        ("pods", "eviction") | ("queues" | "queuejobs", "status") | ("events" | "leases", "") => true,
        ("resourcequotas", "") => *name == "quotient" && (*verb != Verb::Delete || is_in_gate_mode),
        ("limitranges", "") => *name == "quotient" && write.before.is_none_or(is_kept),
        ("configmaps", "") => name.starts_with("quotient-ledger") && *verb != Verb::Delete,
        ("jobs", "") if is_of_a_queue_job(write) => true,
        ("daemonsets" | "deployments" | "replicasets" | "statefulsets" | "jobs", "") => {
            *verb == Verb::Update && (is_only_a_requeue(write) || is_only_a_size(write))
        }
        _ => false,
    };
    if is_own { Vec::new() } else { vec![(Invariant::KeepsToItsOwn, said)] }
}

/// Whether its label says that Quotient keeps it.
fn is_kept(object: &Value) -> bool {
    let keeper = object.pointer("/metadata/labels/app.kubernetes.io~1managed-by");
    keeper.and_then(Value::as_str) == Some("quotient")
}

/// Whether a Job is a task of a QueueJob, before and after. Of one that is deleted an audit log does not say what it was.
fn is_of_a_queue_job(write: &Write<'_>) -> bool {
    let is_owned = |job: &Value| {
        let owners = job.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        owners.is_some_and(|owners| {
            owners.iter().any(|owner| owner["kind"] == "QueueJob" && owner["controller"] == true)
        })
    };
    let states = [write.before, write.after];
    let is_known = write.verb == Verb::Delete || states.iter().any(Option::is_some);
    is_known && states.iter().flatten().all(|job| is_owned(job))
}

/// Whether nothing but our annotation differs, and what every write changes; and of a Job whether `manualSelector` is absent or
/// false, which means the same.
fn is_only_a_requeue(write: &Write<'_>) -> bool {
    let (Some(before), Some(after)) = (write.before, write.after) else { return true };
    let chooses = |job: &Value| job.pointer("/spec/manualSelector") == Some(&Value::Bool(true));
    let toggled = (write.resource == "jobs").then_some("manualSelector");
    chooses(before) == chooses(after)
        && without(before, &[REQUEUED], toggled) == without(after, &[REQUEUED], toggled)
}

/// Whether nothing differs but how many pods are wanted, and this is less than what stands beside it, or is what stood
/// beside it.
fn is_only_a_size(write: &Write<'_>) -> bool {
    let (Some(before), Some(after)) = (write.before, write.after) else { return true };
    let field = if write.resource == "jobs" { "parallelism" } else { "replicas" };
    let rest = |object: &Value| without(object, &[BEFORE, LOWERED], Some(field));
    if rest(before) != rest(after) {
        return false;
    }
    let size = |object: &Value| object.pointer(&format!("/spec/{field}")).and_then(Value::as_u64);
    let noted = |object: &Value, name: &str| -> Option<u64> {
        object.pointer("/metadata/annotations")?.get(name)?.as_str()?.parse().ok()
    };
    let former = noted(before, BEFORE);
    match (noted(after, BEFORE), noted(after, LOWERED)) {
        (None, None) => former.is_some() && size(after) == former,
        (remembered, lowered) => {
            lowered == size(after)
                && remembered > size(after)
                && (remembered == former || remembered == size(before))
        }
    }
}

/// Whether nothing differs but whether the pod is to go before others.
fn is_only_a_mark(write: &Write<'_>) -> bool {
    let (Some(before), Some(after)) = (write.before, write.after) else { return true };
    let (name, mark) = DELETION_COST;
    let cost = |object: &Value| -> Option<String> {
        Some(object.pointer("/metadata/annotations")?.get(name)?.as_str()?.to_owned())
    };
    let is_set = cost(after).is_some_and(|cost| cost == mark);
    let is_lifted = cost(after).is_none() && cost(before).is_some_and(|cost| cost == mark);
    (is_set || is_lifted || cost(before) == cost(after))
        && without(before, &[name], None) == without(after, &[name], None)
}

/// Whether nothing differs but that the gate is not there any more.
fn is_only_a_gate(write: &Write<'_>) -> bool {
    let (Some(before), Some(after)) = (write.before, write.after) else { return true };
    let gates = |pod: &Value| {
        pod.pointer("/spec/schedulingGates").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut left = gates(before);
    left.retain(|gate| gate["name"] != SHARE_GATE);
    let rest = |pod: &Value| without(pod, &[], Some("schedulingGates"));
    left == gates(after) && rest(before) == rest(after)
}

/// `object` without what every write changes, without these annotations, and without this field of its spec.
fn without(object: &Value, annotations: &[&str], field: Option<&str>) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        for field in ["generation", "resourceVersion", "managedFields"] {
            metadata.remove(field);
        }
        if let Some(all) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            for name in annotations {
                all.remove(*name);
            }
            if all.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    let spec = object.pointer_mut("/spec").and_then(Value::as_object_mut);
    if let (Some(spec), Some(field)) = (spec, field) {
        spec.remove(field);
    }
    object
}
