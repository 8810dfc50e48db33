//! The flags of `explain`.

use crate::output::OutputArgs;
use crate::source::SourceArgs;

/// What to explain.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
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
    #[arg(long, value_name = "FILE|URL", conflicts_with = "arithmetic")]
    pub(crate) record: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

const ABOUT: &str = "\
Explain why a pod is pending or was evicted, why pods of a workload do not exist, or why a queue has its share.

The rights to view one namespace suffice. Of an eviction the command shows what the Queue's status remembers: the last 20 of \
each queue.

Exit code 1 if pods cannot start until a person changes something.";

const EXAMPLES: &str = "\
Examples:
  # Why was this pod evicted, or why is it pending?
  kubectl quotient explain pod/trainer-46 -n ml-train

  # Why has the Deployment fewer pods than it wants?
  kubectl quotient explain deploy/api -n web

  # Why is this the share of the queue?
  kubectl quotient explain queue/ml-dev --arithmetic

  # When is there room? This needs the rights to list everything that the operator reads
  kubectl quotient explain deploy/api -n web --whole-cluster

  # Which pods was it compared with?
  kubectl quotient explain pod/trainer-46 -n ml-train --record https://localhost:8443/decisions

  # The short name
  kubectl quotient why job/train";
