//! What an explanation reads: of a cluster one namespace, and for a queue all Queues.

use serde_json::Value;

use super::args::ExplainArgs;
use super::target::Target;
use crate::exit::CommandError;
use crate::objects::{Kind, text};
use crate::snapshot::Snapshot;
use crate::source::{ConnectionArgs, EVENTS, Live, Scope, Selection, kind};

/// What an explanation needs of one namespace.
const OF_NAMESPACE: &str =
    "queues queuejobs pods deployments replicasets statefulsets daemonsets jobs resourcequotas limitranges";

/// What was read.
pub(super) struct Read {
    pub(super) snapshot: Snapshot,
    pub(super) namespace: Option<String>,
    /// Events of the namespace that tell what happened to pods.
    pub(super) events: Vec<Value>,
}

pub(super) async fn read(
    args: &ExplainArgs,
    target: &Target,
    connection: &ConnectionArgs,
) -> Result<Read, CommandError> {
    let namespace = connection.namespace.clone();
    if let Some(snapshot) = args.source.read_files()? {
        return Ok(Read { snapshot, namespace, events: Vec::new() });
    }
    let live = Live::connect(connection).await?;
    let is_queue = target.kind == Kind::Queue;
    let namespace = match namespace {
        Some(namespace) => namespace,
        None if is_queue => find_queue(&live, &target.name).await?,
        None => live.namespace.clone(),
    };
    let mut snapshot = if args.whole_cluster {
        args.source.read_all(connection).await?
    } else {
        live.snapshot(&Scope::of(OF_NAMESPACE, Some(&namespace))).await?
    };
    Live::require(&snapshot, &["pods"])?;
    if target.kind == Kind::Pod && !has_pod(&snapshot, &target.name) {
        // Finished pods are not listed.
        snapshot.add(live.get(kind("pods"), Some(&namespace), &target.name).await?.into_iter().collect());
    }
    if is_queue && !args.whole_cluster {
        let all = live.list_if_allowed(kind("queues"), None, &Selection::default()).await?;
        if let Some(all) = all {
            snapshot.replace("Queue", all);
        }
    }
    let reason = if target.kind == Kind::Pod { "Reclaimed" } else { "FailedCreate" };
    let fields = format!("reason={reason}");
    let selection = Selection { fields: &fields, labels: "" };
    // Events may be gone, or forbidden.
    let events =
        if is_queue { None } else { live.list_if_allowed(&EVENTS, Some(&namespace), &selection).await? };
    Ok(Read { snapshot, namespace: Some(namespace), events: events.unwrap_or_default() })
}

fn has_pod(snapshot: &Snapshot, name: &str) -> bool {
    let is_it = |value| text(value, "/kind") == "Pod" && text(value, "/metadata/name") == name;
    snapshot.entries.iter().any(|entry| is_it(&entry.value))
        || snapshot.pods.iter().any(|pod| pod.metadata.name.as_deref() == Some(name))
}

/// The namespace of the only Queue of this name. A person who may not look for it has it in a namespace of its name, or else in
/// that of the context.
async fn find_queue(live: &Live, name: &str) -> Result<String, CommandError> {
    let fields = format!("metadata.name={name}");
    let selection = Selection { fields: &fields, labels: "" };
    let Some(found) = live.list_if_allowed(kind("queues"), None, &selection).await? else {
        let own = live.list_if_allowed(kind("queues"), Some(name), &selection).await?;
        let has_it = own.is_some_and(|found| !found.is_empty());
        return Ok(if has_it { name.to_owned() } else { live.namespace.clone() });
    };
    let namespaces = found.iter().filter_map(|queue| queue.pointer("/metadata/namespace")?.as_str());
    match namespaces.collect::<Vec<_>>().as_slice() {
        [] => Ok(live.namespace.clone()),
        [one] => Ok((*one).to_owned()),
        several => Err(CommandError::Usage(format!(
            "several namespaces have a Queue {name}: name one of them by -n: {}",
            several.join(", ")
        ))),
    }
}
