//! `explain`: why a pod, a workload or a queue is as it is, with the numbers.

mod args;
mod arithmetic;
mod evicted;
mod explanation;
mod pod;
mod queue;
mod queue_job;
mod recorded;
mod scene;
mod target;
mod workload;

use crate::commands::replay::Replay;
use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::{Cluster, Kind};
use crate::output::{Answer, Screen, document};
use crate::snapshot::Snapshot;
use crate::source::{ConnectionArgs, EVENTS, Live, Scope, Selection};

pub(crate) use args::ExplainArgs;
pub(crate) use evicted::ignores_evictions;
pub(crate) use explanation::Explanation;
use scene::Scene;
pub(crate) use target::Target;

/// What an explanation needs of one namespace.
const OF_NAMESPACE: [&str; 10] = [
    "queues",
    "queuejobs",
    "pods",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
    "resourcequotas",
    "limitranges",
];

/// Reads and explains.
pub(crate) async fn run(
    args: &ExplainArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let target = Target::parse(&args.target).map_err(CommandError::Usage)?;
    let mut namespace = connection.namespace.clone();
    let snapshot = read(args, &target, connection, &mut namespace).await?;
    let cluster = at_rest(Cluster::of(&snapshot, None)?.warned());
    let mut explanation = match &args.record {
        Some(record) => {
            let replay = Replay::of_file(record, &[])?;
            explain_recorded(&cluster, &target, namespace.as_deref(), &replay)?
        }
        None => explain(&cluster, &target, namespace.as_deref(), args.arithmetic)?,
    };
    if explanation.is_eviction() && args.source.is_live() {
        explanation.add_note(said_then(connection, &explanation).await?);
    }
    let answer = Answer {
        table: &|_| explanation.text(screen),
        document: &document("Explanation", cluster.snapshot.now, &cluster.source, &explanation),
        names: vec![target.to_string()],
    };
    answer.print(args.output.output)?;
    Ok(Outcome::of(explanation.needs_a_person))
}

/// What the operator said in the event on the pod, with the numbers of that time. Events may be gone, or forbidden.
async fn said_then(
    connection: &ConnectionArgs,
    explanation: &Explanation,
) -> Result<Option<String>, CommandError> {
    let live = Live::connect(connection).await?;
    let fields = format!("reason=Reclaimed,regarding.name={}", explanation.object.name);
    let selection = Selection { fields: &fields, labels: "" };
    match live.list(&EVENTS, Some(&explanation.object.namespace), &selection).await {
        Ok(events) => {
            let note = events.last().and_then(|event| event.get("note")?.as_str());
            Ok(note.map(str::to_owned))
        }
        Err(error) if error.is_forbidden() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Of a cluster the namespace alone; for the arithmetic of a share all Queues.
async fn read(
    args: &ExplainArgs,
    target: &Target,
    connection: &ConnectionArgs,
    namespace: &mut Option<String>,
) -> Result<Snapshot, CommandError> {
    if let Some(snapshot) = args.source.read_files()? {
        return Ok(snapshot);
    }
    if args.whole_cluster {
        return args.source.read_all(connection).await;
    }
    let live = Live::connect(connection).await?;
    let is_queue = target.kind == Kind::Queue;
    if is_queue && namespace.is_none() {
        *namespace = find_queue(&live, &target.name).await?;
    }
    let namespace = namespace.get_or_insert_with(|| live.namespace.clone());
    let mut snapshot = live.snapshot(&Scope::of(&OF_NAMESPACE, Some(namespace))).await?;
    if let Some(missing) = snapshot.missing.iter().find(|missing| missing.resource == "pods") {
        // The list names the right that is missing.
        live.list(crate::source::kind("pods"), missing.namespace.as_deref(), &Selection::default()).await?;
    }
    if target.kind == Kind::Pod && !has_pod(&snapshot, &target.name) {
        // Finished pods are not listed.
        let pods = crate::source::kind("pods");
        snapshot.add(live.get(pods, Some(namespace), &target.name).await?.into_iter().collect());
    }
    if is_queue {
        let others = live.list(crate::source::kind("queues"), None, &Selection::default()).await;
        match others {
            Ok(queues) => {
                snapshot.entries.retain(|entry| entry.value.get("kind") != Some(&"Queue".into()));
                snapshot.add(queues);
            }
            Err(error) if error.is_forbidden() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(snapshot)
}

fn has_pod(snapshot: &Snapshot, name: &str) -> bool {
    snapshot.entries.iter().any(|entry| {
        entry.value.get("kind") == Some(&"Pod".into())
            && entry.value.pointer("/metadata/name").and_then(serde_json::Value::as_str) == Some(name)
    })
}

/// The namespace of the only Queue of this name, if the user may look for it.
async fn find_queue(live: &Live, name: &str) -> Result<Option<String>, CommandError> {
    let fields = format!("metadata.name={name}");
    let selection = Selection { fields: &fields, labels: "" };
    let found = match live.list(crate::source::kind("queues"), None, &selection).await {
        Ok(found) => found,
        Err(error) if error.is_forbidden() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let namespaces = found.iter().filter_map(|queue| queue.pointer("/metadata/namespace")?.as_str());
    let namespaces: Vec<&str> = namespaces.collect();
    match namespaces.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).to_owned())),
        several => Err(CommandError::Usage(format!(
            "several namespaces have a Queue {name}: name one of them by -n: {}",
            several.join(", ")
        ))),
    }
}

/// Explains `target` in `namespace`; without one, in the only namespace that has it.
pub(crate) fn explain(
    cluster: &Cluster,
    target: &Target,
    namespace: Option<&str>,
    with_arithmetic: bool,
) -> Result<Explanation, CommandError> {
    let scene = Scene::of(cluster, target, namespace).map_err(CommandError::Usage)?;
    match target.kind {
        Kind::Queue => queue::explain(&scene, target, with_arithmetic),
        Kind::Pod => pod::explain(&scene, target),
        Kind::QueueJob => queue_job::explain(&scene, target),
        _ => workload::explain(&scene, target),
    }
    .map_err(CommandError::Usage)
}

/// Explains an eviction by the record of its decision, and by what the status of the Queue remembers, if it still does.
pub(crate) fn explain_recorded(
    cluster: &Cluster,
    target: &Target,
    namespace: Option<&str>,
    replay: &Replay,
) -> Result<Explanation, CommandError> {
    let scene = Scene::of(cluster, target, namespace).map_err(CommandError::Usage)?;
    let remembered = explain(cluster, target, namespace, false).ok().filter(Explanation::is_eviction);
    let kind = target.kind.name();
    let mut told = remembered.unwrap_or_else(|| Explanation::of(kind, &scene.namespace, &target.name));
    recorded::add(&mut told, replay).ok_or_else(|| {
        let place = format!("{kind} {} in namespace {}", target.name, scene.namespace);
        CommandError::Usage(format!("the decision in the record evicted no {place}"))
    })?;
    Ok(told)
}

/// What is printed for programs, as a JSON schema.
#[cfg(test)]
pub(crate) fn schema() -> schemars::Schema {
    schemars::schema_for!(crate::output::Document<Explanation>)
}
