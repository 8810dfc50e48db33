//! What an explanation reads: of a cluster one namespace, and for a queue all Queues.

use serde_json::Value;

use super::ExplainArgs;
use super::target::Target;
use crate::exit::{ClusterError, CommandError};
use crate::objects::{Kind, find_text};
use crate::snapshot::{Entry, Snapshot};
use crate::source::{ConnectionArgs, EVENTS, Live, Scope};

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
    ClusterError::require(&snapshot.missing, &["pods"])?;
    let is_it = |entry: &Entry| entry.kind() == "Pod" && entry.name() == target.name;
    if target.kind == Kind::Pod && !snapshot.entries.iter().any(is_it) {
        // Finished pods are not listed.
        snapshot.add(live.of(Kind::Pod.api(), Some(&namespace)).get(&target.name).await?);
    }
    if is_queue && !args.whole_cluster {
        live.add_all_queues(&mut snapshot).await?;
    }
    let reason = if target.kind == Kind::Pod { "Reclaimed" } else { "FailedCreate" };
    let fields = format!("reason={reason}");
    let events = live.of(&EVENTS, Some(&namespace)).with_fields(&fields);
    // Events may be gone, or forbidden.
    let events = if is_queue { None } else { events.list_if_allowed().await? };
    Ok(Read { snapshot, namespace: Some(namespace), events: events.unwrap_or_default() })
}

/// The namespace of the only Queue of this name. A person who may not look for it has it in a namespace of its name, or else in
/// that of the context.
async fn find_queue(live: &Live, name: &str) -> Result<String, CommandError> {
    let fields = format!("metadata.name={name}");
    let called = |namespace| live.of(Kind::Queue.api(), namespace).with_fields(&fields);
    let Some(found) = called(None).list_if_allowed().await? else {
        let own = called(Some(name)).list_if_allowed().await?;
        let has_it = own.is_some_and(|found| !found.is_empty());
        return Ok(if has_it { name.to_owned() } else { live.namespace.clone() });
    };
    let namespaces = found.iter().filter_map(|queue| find_text(queue, "/metadata/namespace"));
    match namespaces.collect::<Vec<_>>().as_slice() {
        [] => Ok(live.namespace.clone()),
        [one] => Ok((*one).to_owned()),
        several => Err(CommandError::Usage(format!(
            "several namespaces have a Queue {name}: name one of them by -n: {}",
            several.join(", ")
        ))),
    }
}
