//! `explain`: why a pod, a workload or a queue is as it is, with the numbers.

mod arithmetic;
mod checks;
mod context;
mod evicted;
mod pod;
mod queue;
mod queue_job;
mod unmet;
mod workload;

use std::fmt;

use clap::ValueHint;
use serde_json::Value;

use crate::Session;
use crate::commands::replay::Replay;
use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::objects::Kind;
use crate::output::{Answer, Explanation, Format, OutputArgs, Screen, document, note};
use crate::source::SourceArgs;

use context::{Context, Read, read};

/// What to explain.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// What to explain: KIND/NAME, with a pod, a deployment, replicaset, statefulset, daemonset, job, queuejob or queue.
    #[arg(value_name = "KIND/NAME")]
    pub(crate) target: String,

    /// Of a queue, show also how its deserved share comes about.
    #[arg(long)]
    pub(crate) arithmetic: bool,

    /// Read the whole cluster instead of one namespace, and tell also what the next decision does and when room is free.
    #[arg(long, conflicts_with_all = ["files", "snapshot"])]
    pub(crate) whole_cluster: bool,

    /// Of an evicted pod, show what the record of the decision says. At an address that ends in /decisions the operator serves
    /// all that it has kept: see kubectl quotient replay --help.
    #[arg(long, value_name = "FILE|URL", value_hint = ValueHint::FilePath, conflicts_with = "arithmetic")]
    pub(crate) record: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Reads and explains.
pub(crate) async fn run(args: &ExplainArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let target = Target::parse(&args.target)?;
    let Read { snapshot, namespace, events } = read(args, &target, session.connection).await?;
    let cluster = at_rest(Cluster::of(&snapshot, None)?.warned());
    let replay = match &args.record {
        Some(list) if list.ends_with("/decisions") => {
            let pod = format!("{}/{}", namespace.as_deref().unwrap_or_default(), target.name);
            let found = Replay::find(list, &pod, session.connection).await?;
            if found.is_none() {
                note(&format!(
                    "The operator has kept no decision that evicted {pod}, or you may not list pods of all namespaces."
                ));
            }
            found
        }
        Some(record) => Some(Replay::read(record, session.connection, &[]).await?),
        None => None,
    };
    let question = Question { arithmetic: args.arithmetic, replay: replay.as_ref(), events: &events };
    let explanation = explain(&cluster, &target, namespace.as_deref(), &question)?;
    show(&explanation, target.to_string(), &cluster, args.output.output, session.screen)
}

/// Prints an explanation of what has this name; a finding if a person has to do something.
pub(crate) fn show(
    explanation: &Explanation,
    name: String,
    cluster: &Cluster,
    format: Format,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let answer = Answer {
        table: &|_| explanation.text(screen),
        document: || document("Explanation", cluster.snapshot.now, &cluster.source, explanation),
        names: vec![name],
    };
    answer.print(format)?;
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
    let context = Context::of(cluster, target, namespace, question)?;
    let explanation = match target.kind {
        Kind::Queue => queue::explain(&context),
        Kind::Pod => pod::explain(&context),
        Kind::QueueJob => queue_job::explain(&context),
        _ => workload::explain(&context),
    };
    Ok(explanation?)
}

/// The kind that a user names as kubectl does, if it can be explained.
fn kind(text: &str) -> Option<Kind> {
    let text = text.to_lowercase();
    Some(match text.split('.').next().unwrap_or_default() {
        "po" | "pod" | "pods" => Kind::Pod,
        "deploy" | "deployment" | "deployments" => Kind::Deployment,
        "rs" | "replicaset" | "replicasets" => Kind::ReplicaSet,
        "sts" | "statefulset" | "statefulsets" => Kind::StatefulSet,
        "ds" | "daemonset" | "daemonsets" => Kind::DaemonSet,
        "job" | "jobs" => Kind::Job,
        "qtj" | "queuejob" | "queuejobs" => Kind::QueueJob,
        "qtq" | "queue" | "queues" => Kind::Queue,
        _ => return None,
    })
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) name: String,
}

impl Target {
    /// Reads `deploy/api`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').filter(|(_, name)| !name.is_empty());
        let target =
            parts.and_then(|(kind, name)| Some(Self { kind: self::kind(kind)?, name: name.to_owned() }));
        target.ok_or_else(|| {
            format!(
                "{text}: write KIND/NAME, such as pod/web-0; kinds are pod, deployment, replicaset, statefulset, daemonset, \
                 job, queuejob and queue"
            )
        })
    }
}

/// `Deployment api`.
impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind.name(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_short_names_of_kubectl() {
        let parsed = |text| Target::parse(text).map(|target| target.to_string());
        assert_eq!(parsed("deploy/api").as_deref(), Ok("Deployment api"));
        assert_eq!(parsed("Jobs.batch/train").as_deref(), Ok("Job train"));
        assert_eq!(parsed("queue/ml-dev").as_deref(), Ok("Queue ml-dev"));
        for wrong in ["api", "service/api", "pod/"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
    }
}
