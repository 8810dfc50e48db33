//! `explain`: why a pod, a workload or a queue is as it is, with the numbers.

mod args;
mod arithmetic;
mod evicted;
mod pod;
mod queue;
mod queue_job;
mod read;
mod scene;
mod target;
mod workload;

use serde_json::Value;

use crate::commands::replay::Replay;
use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::objects::Kind;
use crate::output::{Answer, Explanation, Screen, document};
use crate::source::ConnectionArgs;

pub(crate) use args::ExplainArgs;
use read::{Read, read};
use scene::Scene;
pub(crate) use target::Target;

/// Reads and explains.
pub(crate) async fn run(
    args: &ExplainArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let target = Target::parse(&args.target).map_err(CommandError::Usage)?;
    let Read { snapshot, namespace, events } = read(args, &target, connection).await?;
    let cluster = at_rest(Cluster::of(&snapshot, None)?.warned());
    let replay = match &args.record {
        Some(list) if list.ends_with("/decisions") => {
            let pod = format!("{}/{}", namespace.as_deref().unwrap_or_default(), target.name);
            let found = Replay::find(list, &pod, connection).await?;
            if found.is_none() {
                eprintln!(
                    "The operator has kept no decision that evicted {pod}, or you may not list pods of all namespaces."
                );
            }
            found
        }
        Some(record) => Some(Replay::read(record, connection, &[]).await?),
        None => None,
    };
    let question = Question { arithmetic: args.arithmetic, replay: replay.as_ref(), events: &events };
    let explanation = explain(&cluster, &target, namespace.as_deref(), &question)?;
    let answer = Answer {
        table: &|_| explanation.text(screen),
        document: &document("Explanation", cluster.snapshot.now, &cluster.source, &explanation),
        names: vec![target.to_string()],
    };
    answer.print(args.output.output)?;
    Ok(Outcome::of(explanation.needs_a_person))
}

/// What is asked beside the object, and what is known beside the cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Question<'a> {
    /// How a share comes about.
    pub(crate) arithmetic: bool,
    /// The decision that evicted the pod.
    pub(crate) replay: Option<&'a Replay>,
    /// Events about the object and what it controls.
    pub(crate) events: &'a [Value],
}

/// Explains `target` in `namespace`; without one, in the only namespace that has it.
pub(crate) fn explain(
    cluster: &Cluster,
    target: &Target,
    namespace: Option<&str>,
    question: &Question<'_>,
) -> Result<Explanation, CommandError> {
    let scene = Scene::of(cluster, target, namespace).map_err(CommandError::Usage)?;
    match target.kind {
        Kind::Queue => queue::explain(&scene, target, question.arithmetic),
        Kind::Pod => pod::explain(&scene, target, question),
        Kind::QueueJob => queue_job::explain(&scene, target),
        _ => workload::explain(&scene, target, question.events),
    }
    .map_err(CommandError::Usage)
}
