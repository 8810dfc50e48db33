//! A recorded snapshot with another setting of a Queue.

use std::sync::Arc;

use quotient_crds::names::API_VERSION;
use quotient_engine::amounts::Bounds;
use quotient_engine::names::{Namespace, QueueName};
use quotient_engine::snapshot::{Queue, Snapshot};
use serde_json::json;

use crate::exit::CommandError;
use crate::manifests::Cluster;
use crate::objects::plain;
use crate::snapshot::{Setting, Snapshot as Objects};

/// The snapshot with all settings, and each in words.
pub(super) fn changed(
    snapshot: &Snapshot,
    settings: &[Setting],
) -> Result<(Vec<String>, Snapshot), CommandError> {
    let mut changed = snapshot.clone();
    let mut sentences = Vec::new();
    for setting in settings {
        let namespace = namespace_of(&changed, setting)?;
        let wanted = decoded(&namespace, setting)?;
        let state = changed.namespaces.get_mut(&namespace).map(Arc::make_mut);
        let queue =
            state.and_then(|state| state.queues.iter_mut().find(|queue| *queue.name == *setting.name));
        if let Some(queue) = queue {
            set(queue, &wanted, &setting.path)?;
        }
        let (path, name, value) = (setting.path.join("."), &setting.name, plain(&setting.value));
        sentences.push(format!("{path} of Queue {name} = {value}"));
    }
    Ok((sentences, changed))
}

/// The namespace of the only Queue that the setting names.
fn namespace_of(snapshot: &Snapshot, setting: &Setting) -> Result<Namespace, CommandError> {
    let has_queue = snapshot.namespaces.iter().filter(|(namespace, state)| {
        setting.namespace.as_ref().is_none_or(|wanted| wanted == namespace.as_str())
            && state.queues.iter().any(|queue| *queue.name == *setting.name)
    });
    let found: Vec<&Namespace> = has_queue.map(|(namespace, _)| namespace).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(format!("there is no Queue {} in the record", setting.name).into()),
        _ => {
            let name = &setting.name;
            Err(format!("several namespaces have a Queue {name}: write queue/NAMESPACE/{name}.FIELD=VALUE")
                .into())
        }
    }
}

/// The Queue that has this setting alone, read as a manifest is.
fn decoded(namespace: &Namespace, setting: &Setting) -> Result<Queue, CommandError> {
    let value = json!({
        "apiVersion": API_VERSION,
        "kind": "Queue",
        "metadata": {"name": setting.name, "namespace": namespace.as_str()},
        "spec": setting.spec(),
    });
    let mut objects = Objects::written("--with");
    objects.add([value]);
    let cluster = Cluster::of(&objects, None)?;
    let state = cluster.snapshot.namespaces.get(namespace);
    let queue = state.and_then(|state| state.queues.first().cloned());
    queue.ok_or_else(|| format!("set {}: it is no Queue", setting.path.join(".")).into())
}

/// Takes one field of `wanted` over.
fn set(queue: &mut Queue, wanted: &Queue, path: &[String]) -> Result<(), CommandError> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["weight"] => queue.weight = wanted.weight,
        ["mode"] => queue.mode = wanted.mode,
        ["admission"] => queue.admission = wanted.admission,
        ["preemption"] => queue.preemption = wanted.preemption,
        ["pausedUntil"] => queue.paused_until = wanted.paused_until,
        ["parentRef"] => queue.parent.clone_from(&wanted.parent),
        ["parentRef", "name"] => {
            let home = queue.parent.take().map(|parent| parent.namespace);
            let wanted = wanted.parent.clone();
            queue.parent =
                wanted.map(|wanted| QueueName { namespace: home.unwrap_or(wanted.namespace), ..wanted });
        }
        ["request", ..] => amounts(&mut queue.request, &wanted.request, path.len() > 1),
        ["guaranteed", ..] => amounts(&mut queue.guaranteed, &wanted.guaranteed, path.len() > 1),
        ["limit", ..] => amounts(&mut queue.limit, &wanted.limit, path.len() > 1),
        ["reclaim"] => queue.reclaim = wanted.reclaim,
        ["reclaim", "from"] => queue.reclaim.from = wanted.reclaim.from,
        ["reclaim", "afterSeconds"] => queue.reclaim.after_seconds = wanted.reclaim.after_seconds,
        ["eviction"] => queue.eviction = wanted.eviction,
        ["eviction", "policy"] => queue.eviction.policy = wanted.eviction.policy,
        ["eviction", "minRuntimeSeconds"] => {
            queue.eviction.min_runtime_seconds = wanted.eviction.min_runtime_seconds;
        }
        ["eviction", "lastReplica"] => queue.eviction.last_replica = wanted.eviction.last_replica,
        ["eviction", "gangs"] => queue.eviction.gangs = wanted.eviction.gangs,
        ["eviction", "maxGraceSeconds"] => {
            queue.eviction.max_grace_seconds = wanted.eviction.max_grace_seconds;
        }
        ["eviction", "forceAfterSeconds"] => {
            queue.eviction.force_after_seconds = wanted.eviction.force_after_seconds;
        }
        other => return Err(format!("--with: {} decides nothing here", other.join(".")).into()),
    }
    Ok(())
}

/// One resource of a map of amounts, or the whole map.
fn amounts(bounds: &mut Bounds, wanted: &Bounds, is_one: bool) {
    if is_one {
        for (resource, amount) in wanted.iter() {
            bounds.set(resource.clone(), amount);
        }
    } else {
        bounds.clone_from(wanted);
    }
}
