//! The command line: what can be set, what it means and what it defaults to.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum, value_parser};
use quotient_engine::snapshot::Mode;
use quotient_index::IndexSettings;

use crate::lease::LeaseSettings;
use crate::settings::{GuardSettings, Pace, WatchSettings, WriteSettings};

/// Every flag of the operator. Each has an environment variable, named in `--help`; the flag wins.
///
/// Nothing here is checked across flags: [`Settings::from_args`](crate::settings::Settings::from_args) does that,
/// once, and the rest of the program sees only its result.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "quotient-operator",
    version,
    about = "Gives every team of a cluster its deserved share, and reclaims it when another team uses it.",
    long_about = "Gives every team of a cluster its deserved share, and reclaims it when another team uses it.\n\n\
        The operator watches Queues, nodes, pods and workloads, and computes the deserved share of each queue. It writes \
        the shares as ResourceQuotas named \"quotient\". When a share has to shrink, it evicts pods through the Eviction \
        API. It never touches a namespace without a Queue. Of several replicas one leads, and the others keep their view \
        of the cluster up to date.\n\n\
        In a cluster the operator needs no flags. Outside, it uses the kubeconfig that kubectl would use.",
    after_help = "Every flag can also be given as an environment variable: --status-interval-seconds is \
        QUOTIENT_STATUS_INTERVAL_SECONDS. A flag wins over its variable."
)]
pub struct Args {
    /// The mode of the operator, and the highest mode of every Queue.
    #[arg(long, value_parser = modes(), ignore_case = true, default_value = "Full")]
    pub mode: Mode,

    /// The resources to share out, separated by commas, such as `cpu,memory` or `nvidia.com/gpu`.
    ///
    /// If left out, the operator shares out cpu, memory and every extended resource that a node offers.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub resources: Vec<String>,

    /// Namespaces that no Queue can manage, separated by commas. The operator's own namespace is always one.
    ///
    /// Their pods keep the cluster running. A Queue in such a namespace is not Ready and has no effect.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    #[arg(default_values_t = IndexSettings::PROTECTED.map(str::to_owned))]
    pub protected_namespaces: Vec<String>,

    /// The nodes whose capacity is shared out, as a label selector such as `pool in (batch,gpu)`. If left out, all nodes.
    ///
    /// Pods on other nodes still count against their queue.
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    pub node_selector: String,

    /// The time for which a node has to be Ready before its capacity is shared out.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    #[arg(value_parser = value_parser!(u32).range(0..=3600))]
    pub node_ready_seconds: u32,

    /// The capacity to share out: what the nodes offer (`Nodes`), or the ceiling of an autoscaler, such as
    /// `cpu=500,memory=2Ti,nvidia.com/gpu=16`.
    ///
    /// State a ceiling if an autoscaler adds nodes. An autoscaler adds nodes for pending pods, and a pod that a quota rejects is
    /// never pending. With a ceiling, quotas may exceed the nodes, so pods exist and wait for a node. For 10 minutes no pod of
    /// another queue is evicted for them. A resource that the ceiling does not name counts as with `Nodes`. If the nodes offer
    /// more than the ceiling, the nodes count. State no more than the limits of the autoscaler allow.
    #[arg(long, value_delimiter = ',', value_name = "Nodes|NAME=AMOUNT,…", default_value = "Nodes")]
    pub capacity: Vec<String>,

    /// The amounts that an autoscaler may add to the existing nodes, such as `cpu=64,memory=256Gi`.
    ///
    /// Use it if no ceiling is known. The operator shares out these amounts on top of what the nodes offer. One step of growth is
    /// enough, because the sum grows with the nodes. State only what the autoscaler really adds. You cannot set it together
    /// with a ceiling in --capacity.
    #[arg(long, value_delimiter = ',', value_name = "NAME=AMOUNT,…")]
    pub expandable: Vec<String>,

    /// The pods that may be evicted for another queue, by priority.
    #[arg(long, value_enum, ignore_case = true, default_value = "Any")]
    pub victim_priority: VictimPriority,

    /// The node label that names a node's pool, such as `cloud.google.com/gke-nodepool`.
    ///
    /// With it, the last replica of a workload in each pool is protected. Without it, only the last replica of the workload.
    #[arg(long, value_name = "KEY")]
    pub pool_label: Option<String>,

    /// Whether the cluster has the admission policies that gate pods of Queues with `admission: Gate`.
    ///
    /// Without them, such a Queue works as with `admission: Quota`, and its condition Ready has the reason.
    #[arg(long, value_name = "true|false", default_value_t = false)]
    #[arg(action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub gate_mode: bool,

    /// Further kinds of workloads whose pods count as demand, as a JSON list.
    ///
    /// Each entry has group, version, kind, plural, replicasPath and templatePath, such as `{"group": "ray.io", "version":
    /// "v1", "kind": "RayCluster", "plural": "rayclusters", "replicasPath": "spec.workerGroupSpecs[*].replicas",
    /// "templatePath": "spec.workerGroupSpecs[*].template"}`. Without replicasPath each template wants one pod. Several
    /// entries of one kind add up. A kind that the API does not serve is looked for every minute.
    #[arg(long, value_name = "JSON", default_value = "", hide_default_value = true)]
    pub workload_kinds: String,

    /// The kubeconfig. If left out, that of kubectl, or the service account of the pod.
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig. If left out, the current context.
    #[arg(long, value_name = "NAME", help_heading = "Connection")]
    pub context: Option<String>,

    /// The address of /healthz and /readyz, over plain HTTP. Port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8080", help_heading = "Connection")]
    pub listen: SocketAddr,

    /// The address of /metrics: on loopback for every client over plain HTTP, elsewhere over TLS for clients with rights.
    ///
    /// Elsewhere, such as on 0.0.0.0:8443, a client sends a bearer token of this cluster. Its account needs the verb get on the
    /// non-resource URL /metrics. The operator asks the API server about both. Port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081", help_heading = "Connection")]
    pub metrics_listen: SocketAddr,

    /// The directory with tls.crt and tls.key for /metrics beyond loopback. The operator reads renewed files again.
    ///
    /// If left out, the operator creates a certificate at every start. It encrypts the connection, but clients cannot verify it.
    #[arg(long, value_name = "DIRECTORY", help_heading = "Connection")]
    pub metrics_certificate: Option<String>,

    /// The watches.
    #[command(flatten)]
    pub watch: WatchSettings,

    /// The guards.
    #[command(flatten)]
    pub guards: GuardSettings,

    /// Whether the operator decides only while it holds the Lease. If false, run exactly one replica.
    #[arg(long, value_name = "true|false", default_value_t = true, help_heading = "Leadership")]
    #[arg(action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,

    /// The Lease.
    #[command(flatten)]
    pub lease: LeaseSettings,

    /// The name of this replica in the Lease and in events. If left out, the name of the host and the process id.
    #[arg(long, value_name = "NAME", help_heading = "Leadership")]
    pub identity: Option<String>,

    /// The pace.
    #[command(flatten)]
    pub pace: Pace,

    /// The writes.
    #[command(flatten)]
    pub writes: WriteSettings,

    /// The shortest time between two writes of a status in which only used and demand changed. Shares and conditions are
    /// written at once.
    #[arg(long = "status-interval-seconds", value_name = "SECONDS", default_value = "15")]
    #[arg(help_heading = "Pace", value_parser = seconds(0..=3600))]
    pub status_interval: Duration,

    /// The format of log lines.
    #[arg(long, value_enum, ignore_case = true, default_value = "text", help_heading = "Logging")]
    pub log_format: LogFormat,

    /// The lowest level that is logged: error, warn, info, debug or trace, or levels by module, such as
    /// `info,quotient_operator=debug`.
    #[arg(long, value_name = "FILTER", default_value = "info", help_heading = "Logging")]
    pub log_level: String,
}

impl Args {
    /// Reads the command line of this process and its environment; ends the process if they make no sense.
    pub fn read() -> Self {
        Self::from_arg_matches(&Self::described().get_matches()).unwrap_or_else(|error| error.exit())
    }

    /// Every flag with its environment variable: `--log-level` is `QUOTIENT_LOG_LEVEL`.
    fn described() -> clap::Command {
        Self::command().mut_args(|flag| match flag.get_long() {
            Some(long) => {
                let variable = format!("QUOTIENT_{}", long.to_uppercase().replace('-', "_"));
                flag.env(variable)
            }
            None => flag,
        })
    }
}

/// A number of seconds in this range.
pub(crate) fn seconds(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    value_parser!(u64).range(range).map(Duration::from_secs)
}

/// A number of milliseconds in this range.
pub(crate) fn milliseconds(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    value_parser!(u64).range(range).map(Duration::from_millis)
}

/// A number in this range.
pub(crate) fn count(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = usize> {
    value_parser!(u64).range(range).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

/// The modes by name, each with what the operator may do in it beside what it may do in those before.
fn modes() -> impl TypedValueParser<Value = Mode> {
    let help = |mode| match mode {
        Mode::Observe => "Report shares in statuses, events and metrics",
        Mode::Quota => {
            "Also write quotas and default requests, and notify workloads with rejected pods. A share comes back only as pods \
             finish"
        }
        Mode::Full => "Also evict pods, and scale workloads inside a queue",
    };
    let modes = Mode::ALL.map(|mode| PossibleValue::new(mode.name()).help(help(mode)));
    let is = |name: &str| Mode::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(name));
    PossibleValuesParser::new(modes).try_map(move |name| is(&name).ok_or("there is no such mode"))
}

/// The pods that may be evicted for another queue, by priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum VictimPriority {
    /// Pods of any priority, because a team could give all of its pods the highest.
    Any,
    /// Pods of at most the priority of the pod that needs the room. For clusters in which administrators restrict priority
    /// classes.
    NotAboveAsk,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum LogFormat {
    /// One readable line each.
    Text,
    /// One JSON object a line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::described().debug_assert();
    }

    #[test]
    fn every_flag_has_its_variable_and_a_sentence() {
        let command = Args::described();
        for argument in command.get_arguments() {
            let Some(long) = argument.get_long() else { panic!("{} has no long flag", argument.get_id()) };
            if ["help", "version"].contains(&long) {
                continue;
            }
            let variable = format!("QUOTIENT_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env().and_then(|name| name.to_str()), Some(variable.as_str()), "{long}");
            assert!(argument.get_help().is_some(), "{long} does not say what it is");
        }
    }

    #[test]
    fn names_are_read_in_any_case_and_a_switch_without_a_value_is_on() {
        let flags =
            ["quotient-operator", "--mode=observe", "--victim-priority=notaboveask", "--leader-elect"];
        let args = Args::try_parse_from(flags).unwrap();
        assert_eq!((args.mode, args.victim_priority), (Mode::Observe, VictimPriority::NotAboveAsk));
        assert!(args.leader_elect);
    }

    #[test]
    fn nonsense_is_refused_and_named() {
        for (flag, named) in [
            ("--mode=Sometimes", "Sometimes"),
            ("--listen=nowhere", "--listen"),
            ("--victim-priority=Lower", "--victim-priority"),
            ("--evictions-per-second=0", "--evictions-per-second"),
            ("--lease-duration-seconds=-1", "--lease-duration-seconds"),
            // Longer than /healthz waits, and longer than QuotientCycleStalled does.
            ("--lease-retry-seconds=31", "--lease-retry-seconds"),
            ("--resync-seconds=241", "--resync-seconds"),
        ] {
            let error = Args::try_parse_from(["quotient-operator", flag]).unwrap_err().to_string();
            assert!(error.contains(named), "{flag}: {error}");
        }
    }
}
